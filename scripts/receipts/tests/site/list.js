const list = document.getElementById("list");
const next = document.getElementById("next-page");

async function show(page) {
  next.disabled = true;
  try {
    const response = await fetch(`/api/receipts?page=${page}`);
    if (!response.ok) throw new Error(`status ${response.status}`);
    const found = await response.json();
    const links = found.receipts.map(number => Object.assign(document.createElement("a"), { href: `/receipts/${number}`, textContent: number }));
    list.replaceChildren(...links.flatMap((link, index) => index ? [" · ", link] : [link]));
    next.onclick = () => show(found.next);
    next.disabled = found.next === null;
  } catch (problem) {
    list.textContent = `The list could not be fetched (${problem.message}).`;
  }
}

show(1);
