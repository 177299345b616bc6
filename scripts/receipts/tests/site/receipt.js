const item = decodeURIComponent(location.pathname.split("/").pop());
const modal = document.getElementById("receipt");
const title = document.getElementById("receipt-title");
const body = document.getElementById("receipt-body");
document.getElementById("item").textContent = item;

function line(list, name, value, kind = "") {
  for (const [tag, text] of [["dt", name], ["dd", value]]) {
    const cell = document.createElement(tag);
    cell.textContent = text;
    cell.className = kind;
    list.append(cell);
  }
}

function say(text, kind) {
  const words = document.createElement("p");
  words.textContent = text;
  words.className = kind;
  body.replaceChildren(words);
}

document.getElementById("show-receipt").addEventListener("click", async () => {
  title.textContent = "Receipt";
  say("Fetching the receipt …", "waiting");
  modal.showModal();
  try {
    const response = await fetch(`/api/receipts/${encodeURIComponent(item)}`);
    if (!response.ok) throw new Error(`status ${response.status}`);
    const receipt = await response.json();
    const list = document.createElement("dl");
    line(list, "Order", receipt.item);
    line(list, "Date", receipt.date ?? "–");
    if (receipt.customer) line(list, "Customer", receipt.customer);
    line(list, "Paid by", [receipt.payment ?? "–", receipt.account].filter(Boolean).join(" "));
    line(list, "Total", receipt.price, "total");
    title.textContent = receipt.title;
    body.replaceChildren(list);
  } catch (problem) {
    say(`The receipt could not be fetched (${problem.message}).`, "trouble");
  }
});
