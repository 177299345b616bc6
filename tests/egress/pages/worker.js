// A worker of any kind that goes out in the way that its own address names.
const asked = new URL(location).searchParams;
const url = asked.get("url");
const leave = () => fetch(url, {mode: "no-cors"});

({
  none: () => 0,
  fetch: () => leave().catch(() => 0),
  load: () => importScripts(url),
  module: () => import(url).catch(() => 0),
  events: () => new EventSource(url),
  socket: () => new WebSocket(url.replace("http", "ws")),
  nested: () => new Worker(`/worker.js?do=fetch&url=${encodeURIComponent(url)}`),
  cache: () => addEventListener("install", (event) => event.waitUntil(caches.open("c").then((c) => c.add(url)))),
  answer: () => addEventListener("fetch", (event) => event.respondWith(leave())),
  sync: () => addEventListener("sync", (event) => event.waitUntil(leave())),
  xhr: () => {
    const request = new XMLHttpRequest();
    request.open("GET", url);
    request.send();
  },
})[asked.get("do")]();
