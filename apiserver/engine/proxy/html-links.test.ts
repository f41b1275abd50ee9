import { assert, asyncProperty, integer, string } from 'fast-check';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { rewriteLinks } from './html-links';

async function rewritten(page: string, pieceBytes = page.length + 1): Promise<string> {
  async function* pieces(): AsyncGenerator<Buffer> {
    const bytes = Buffer.from(page);
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      yield Promise.resolve(bytes.subarray(at, at + pieceBytes));
    }
  }
  const out: Buffer[] = [];
  const rewrite = (link: string): string => (link.startsWith('/') ? `/proxy${link}` : link);
  for await (const piece of rewriteLinks(pieces(), rewrite)) out.push(piece);
  return Buffer.concat(out).toString();
}

test.each([
  ['<a href="/x">y</a>', '<a href="/proxy/x">y</a>'],
  ["<IMG SRC='/x' alt='/y'>", "<IMG SRC='/proxy/x' alt='/y'>"],
  ['<form action=/x method=post>', '<form action=/proxy/x method=post>'],
  ['<a href="near">', '<a href="near">'],
  ['<a href="/x?a=1&amp;b=2">', '<a href="/proxy/x?a=1&amp;b=2">'],
  ['<a title="/x">', '<a title="/x">'],
  ['<!-- <a href="/x"> -->', '<!-- <a href="/x"> -->'],
  ['<script>var a = \'<a href="/x">\'</script>', '<script>var a = \'<a href="/x">\'</script>'],
  ['<p>ümlaut</p><a href="/ü">', '<p>ümlaut</p><a href="/proxy/ü">'],
  ['<a href="/x"', '<a href="/proxy/x"'],
])('%s becomes %s, however it is cut', async (page, expected) => {
  expect(await rewritten(page)).toBe(expected);
  for (let bytes = 1; bytes < page.length; bytes += 1) expect(await rewritten(page, bytes)).toBe(expected);
});

test('a page without links stays byte for byte the same', async () => {
  await assert(
    asyncProperty(string(), integer({ min: 1, max: 8 }), async (text, bytes) => {
      const page = text.replaceAll('/', '');
      expect(await rewritten(page, bytes)).toBe(Buffer.from(page).toString());
    }),
  );
});

test('an endless attribute is passed on and not buffered', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const piece = Buffer.alloc(16 * 1024, 'x');
  async function* pieces(): AsyncGenerator<Buffer> {
    yield Promise.resolve(Buffer.from('<a href="/'));
    for (let at = 0; at < 1_024; at += 1) yield piece;
  }
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const page = rewriteLinks(pieces(), (link) => link);
  let bytes = 0;
  let held = 0;
  for await (const each of page) {
    bytes += each.length;
    if (each.length > 0 && bytes % (4 * 1024 * 1024) < each.length) {
      collectGarbage();
      held = Math.max(held, process.memoryUsage().heapUsed - before);
    }
  }
  expect(bytes).toBe(10 + 1_024 * piece.length);
  // Retained slices would keep 30 MB alive for each megabyte of the page.
  expect(held).toBeLessThan(16 * 1024 * 1024);
});
