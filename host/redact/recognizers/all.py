"""The registry as we run it: our recognizers and the owner's, none of Presidio's predefined ones, no language model."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import phonenumbers
from presidio_analyzer import AnalyzerEngine, EntityRecognizer, RecognizerRegistry

from host.redact.recognizers import (
    addresses,
    contacts,
    credentials,
    identities,
    labelled,
    modelled,
    money,
    network,
    owners,
    people,
    usernames,
)
from host.redact.recognizers import model as model_module
from host.redact.recognizers.base import LANGUAGE, BlankNlp, Nearby

# Presidio's own patterns are left out as measured: dates, organisations, URLs and bank numbers fired on a third of
# harmless texts, and its cards, IBANs and phones are covered by rules that also look at what stands beside them.
OURS = (
    contacts.Emails,
    contacts.Phones,
    contacts.Handles,
    usernames.Usernames,
    money.Cards,
    money.Accounts,
    money.Wallets,
    identities.NationalIds,
    identities.Births,
    identities.Vehicles,
    network.Machines,
    network.Places,
    credentials.Credentials,
    addresses.Addresses,
    people.People,
    labelled.Labelled,
)


class Registry(RecognizerRegistry):
    """Presidio's registry, asked the same question for every text: the answer is kept."""

    _known: tuple[tuple[str, ...], list[EntityRecognizer]] | None = None

    def get_recognizers(
        self,
        language: str,
        entities: list[str] | None = None,
        all_fields: bool = False,
        ad_hoc_recognizers: list[EntityRecognizer] | None = None,
    ) -> list[EntityRecognizer]:
        """As Presidio's own, in the order of the registry, so that results are the same each time."""
        asked = tuple(entities or ())
        if ad_hoc_recognizers or all_fields:
            found: list[EntityRecognizer] = super().get_recognizers(language, entities, all_fields, ad_hoc_recognizers)
            return found
        if self._known is None or self._known[0] != asked:
            wanted = set(asked)
            self._known = (asked, [one for one in self.recognizers if wanted & set(one.supported_entities)])
        return self._known[1]


def analyzer(recognizers_yaml: str) -> Any:
    """Presidio's engine over our recognizers and those of the YAML; raises ValueError as `owners.read`."""
    registry = Registry(
        recognizers=[*(recognizer() for recognizer in OURS), *owners.read(recognizers_yaml)],
        supported_languages=[LANGUAGE],
    )
    return AnalyzerEngine(
        registry=registry, nlp_engine=BlankNlp(), supported_languages=[LANGUAGE], context_aware_enhancer=Nearby()
    )


def model_analyzer() -> Any:
    """Presidio's engine over what the name model said alone: it is asked after the rules, for what they leave open."""
    registry = Registry(recognizers=[modelled.Modelled()], supported_languages=[LANGUAGE])
    return AnalyzerEngine(
        registry=registry, nlp_engine=BlankNlp(), supported_languages=[LANGUAGE], context_aware_enhancer=Nearby()
    )


def model() -> model_module.NameModel:
    """The name model; raises ImportError when its package is not there."""
    return model_module.NameModel(model_module.NameModel.installed())


def warm() -> dict[str, Any]:
    """Read what is read late otherwise (numbering plans), and say the versions of what is used."""
    for region in contacts.REGIONS:
        phonenumbers.PhoneMetadata.metadata_for_region(region, None)
    packages = ("presidio-analyzer", "onnxruntime", "phonenumbers", model_module.DISTRIBUTION)
    return {package: version(package) for package in packages}
