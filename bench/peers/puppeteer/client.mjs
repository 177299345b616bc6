// puppeteer-core's CDPSession as a client, over the pipe that was handed down: the works of bench/app/main.py again.
import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const task = JSON.parse(process.argv[2]);
const require = createRequire(join(process.cwd(), 'from-here.js'));
const load = name => import(pathToFileURL(require.resolve(name)));
const { default: puppeteer } = await load('puppeteer-core').then(m => m.default?.connect ? m : m.default);
const { PipeTransport } = await load('puppeteer-core/internal/node/PipeTransport.js');

const { plan, texts, large_chars, outstanding, sessions, warm_up, domains } = task;
const METHOD = 'Runtime.evaluate';
const ONE = { expression: '1', returnByValue: true };
const LARGE = { expression: `'x'.repeat(${large_chars})`, returnByValue: true };
const QUIET_MS = 10_000;
const now = () => performance.now() * 1000;
const cpu = () => { const used = process.cpuUsage(); return used.user + used.system; };
const sleep = ms => new Promise(done => setTimeout(done, ms));

const transport = new PipeTransport(
  new Socket({ fd: task.write_fd, readable: false, writable: true }),
  new Socket({ fd: task.read_fd, readable: true, writable: false }),
);
const browser = await puppeteer.connect({ transport });

async function open(url) {
  const page = await browser.newPage(), session = await page.createCDPSession();
  await Promise.all(domains.map(domain => session.send(`${domain}.enable`)));
  const loaded = new Promise(done => session.once('Page.loadEventFired', done));
  await session.send('Page.navigate', { url });
  await loaded;
  return { page, session };
}

const close = tab => tab.page.close();

async function one(tab) {
  if ((await tab.session.send(METHOD, ONE)).result.value !== 1) throw new Error('a wrong answer');
}

async function large(tab) {
  if ((await tab.session.send(METHOD, LARGE)).result.value.length !== large_chars) throw new Error('not whole');
}

function row(took, wall, used) {
  took.sort((a, b) => a - b);
  const count = took.length;
  return {
    calls: count, p50_us: took[Math.floor(count / 2)], p99_us: took[Math.floor(count * 99 / 100)],
    wall_us: wall / count, client_cpu_us: used / count, host_cpu_us: 0,
  };
}

async function timed(work, calls, workers) {
  const each = Math.ceil(calls / workers), took = [], used = cpu(), began = now();
  await Promise.all(Array.from({ length: workers }, async () => {
    for (let i = 0; i < each; i++) { const at = now(); await work(); took.push(now() - at); }
  }));
  return row(took, now() - began, cpu() - used);
}

async function opened(count, atOnce) {
  const took = [], used = cpu();
  let wall = 0;
  for (let i = 0; i < count; i++) {
    const began = now();
    const tabs = await Promise.all(Array.from({ length: atOnce }, () => open(plan.page)));
    const spent = now() - began;
    wall += spent;
    took.push(...tabs.map(() => spent / atOnce));
    await Promise.all(tabs.map(close));
  }
  return row(took, wall, cpu() - used);
}

async function flooded(tab, text, count) {
  let seen = 0, done;
  const all = new Promise(resolve => { done = resolve; });
  const hit = () => { if (++seen === count) done(); };
  tab.session.on('Runtime.consoleAPICalled', hit);
  const used = cpu(), began = now();
  const expression = `(() => { const s = ${text}; for (let i = 0; i < ${count}; i++) console.log(s + i); return 1 })()`;
  const evaluated = tab.session.send(METHOD, { expression });
  await Promise.race([all, sleep(QUIET_MS)]);
  await evaluated;
  const wall = now() - began, spent = cpu() - used;
  tab.session.off('Runtime.consoleAPICalled', hit);
  return {
    calls: count, seen, lost: 0, wall_us: wall / count, client_cpu_us: spent / count, host_cpu_us: 0,
  };
}

function privateBytes() {
  const rollup = readFileSync('/proc/self/smaps_rollup', 'utf8');
  return [...rollup.matchAll(/^Private_\w+:\s+(\d+)/gm)].reduce((sum, found) => sum + Number(found[1]), 0) * 1024;
}

const figures = {};
const tab = await open(plan.page);
await timed(() => one(tab), warm_up, 1);
await timed(() => one(tab), warm_up, outstanding);
if (plan.one) figures.one = await timed(() => one(tab), plan.one, 1);
if (plan.many) figures.many = await timed(() => one(tab), plan.many, outstanding);
if (plan.large) figures.large = await timed(() => large(tab), plan.large, 1);
for (const [name, text] of Object.entries(texts)) if (plan[name]) figures[name] = await flooded(tab, text, plan[name]);
await close(tab);
if (plan.open) figures.open = await opened(plan.open, 1);
if (plan.open_eight) figures.open_eight = await opened(plan.open_eight, sessions);
if (plan.idle) {
  const tabs = await Promise.all(Array.from({ length: sessions }, () => open(plan.page)));
  const used = cpu();
  await sleep(plan.idle * 1000);
  figures.idle = {
    calls: plan.idle, client_cpu_us: (cpu() - used) / plan.idle, host_cpu_us: 0,
    private_bytes: privateBytes(), helper_bytes: 0,
  };
  await Promise.all(tabs.map(close));
}
process.stdout.write(JSON.stringify(figures) + '\n', () => process.exit(0));
