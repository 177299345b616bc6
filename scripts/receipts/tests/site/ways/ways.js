// What can come between a click and its answer; which of it, the order's number says.
const ways = {
  // another site is asked for a receipt of the same number, under the same path, and is quicker
  "A-200": () => fetch("{{OTHER}}/api/receipts/A-200"),
  // a request whose event is too large to be kept
  "A-300": () => fetch("/style.css?" + "y".repeat(30000), { headers: { "X-Wide": "z".repeat(60000) } }),
  // the session ends at the click: the page leaves for the sign-in
  "A-405": () => { location.href = "/sign-in?next=/receipts/A-405"; },
};
document.getElementById("show-receipt").addEventListener("click", () => ways[location.pathname.split("/").pop()]());
