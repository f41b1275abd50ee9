import type { Suite } from './suite';
import { mustCreate, mustDelete, mustUpdate, storageErrorOf } from './suite';

/** In the order of their UTF-8 bytes, which is not the order of JavaScript's `<`: the astral ones are after U+E000–U+FFFF. */
const NAMES = [
  '-',
  '/',
  'a',
  'a-',
  'a/b',
  'aa',
  'b',
  '~',
  'é',
  'ｚ',
  '\ue000',
  '\uffee',
  '𐀀',
  '😀',
  '\u{10ffff}',
].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));

/** Lists: order, pages, exact past revisions, compaction. */
export function describeLists(suite: Suite): void {
  const { deadline } = suite;

  test('a list is in the order of the UTF-8 bytes of its keys', async () => {
    const folder = suite.folder();
    for (const name of NAMES.toReversed()) await mustCreate(suite, `${folder}${name}`, name);
    const { records, remaining } = await suite.backend().list(folder, {}, deadline());
    expect(keysOf(records)).toEqual(NAMES.map((name) => `${folder}${name}`));
    expect(records.map(({ value }) => value.toString())).toEqual(NAMES);
    expect(remaining).toBe(0);
  });

  test('a list holds exactly the keys that begin with the prefix', async () => {
    const folder = suite.folder();
    const inside = ['pods/a', 'pods/b/c'].map((name) => `${folder}${name}`);
    const outside = ['pod', 'pods', 'pods.x', 'pods0', 'podz'].map((name) => `${folder}${name}`);
    for (const key of [...inside, ...outside]) await mustCreate(suite, key, 'x');
    expect(keysOf((await suite.backend().list(`${folder}pods/`, {}, deadline())).records)).toEqual(inside);
    expect((await suite.backend().list(`${folder}none/`, {}, deadline())).records).toEqual([]);
  });

  test('pages continued from the last key are the whole list, and remaining counts the records after each', async () => {
    const folder = suite.folder();
    for (const name of NAMES) await mustCreate(suite, `${folder}${name}`, name);
    const keys: string[] = [];
    let after: string | undefined;
    for (;;) {
      const page = await suite
        .backend()
        .list(folder, { limit: 4, ...(after === undefined ? {} : { after }) }, deadline());
      keys.push(...keysOf(page.records));
      expect(page.remaining).toBe(NAMES.length - keys.length);
      if (page.remaining === 0) break;
      expect(page.records).toHaveLength(4);
      after = keys.at(-1);
    }
    expect(keys).toEqual(NAMES.map((name) => `${folder}${name}`));
  });

  test('a list of keys alone has the same keys and revisions and no values, also in the past and in pages', async () => {
    const folder = suite.folder();
    const a = await mustCreate(suite, `${folder}a`, 'a1');
    const b = await mustCreate(suite, `${folder}b`, 'b1');
    const a2 = await mustUpdate(suite, `${folder}a`, a, 'a2');
    const now = await suite.backend().list(folder, { keysOnly: true, limit: 1 }, deadline());
    expect(now.records).toEqual([{ key: `${folder}a`, value: Buffer.alloc(0), revision: a2 }]);
    expect(now.remaining).toBe(1);
    const past = await suite.backend().list(folder, { keysOnly: true, revision: b }, deadline());
    expect(past.records.map(({ key, value, revision }) => [key, value.length, revision])).toEqual([
      [`${folder}a`, 0, a],
      [`${folder}b`, 0, b],
    ]);
  });

  test('a page may start after a key that does not exist or is outside of the prefix', async () => {
    const folder = suite.folder();
    for (const name of ['a', 'c', 'e']) await mustCreate(suite, `${folder}${name}`, name);
    const before = `${folder.slice(0, -1)}!`;
    const beyond = `${folder.slice(0, -1)}~`;
    await mustCreate(suite, before, 'x');
    await mustCreate(suite, beyond, 'x');
    const listAfter = async (after: string): Promise<(string | number)[]> => {
      const { records, remaining } = await suite.backend().list(folder, { after, limit: 2 }, deadline());
      return [...keysOf(records), remaining];
    };
    expect(await listAfter(`${folder}b`)).toEqual([`${folder}c`, `${folder}e`, 0]);
    expect(await listAfter(`${folder}c`)).toEqual([`${folder}e`, 0]);
    expect(await listAfter(`${folder}z`)).toEqual([0]);
    expect(await listAfter(before)).toEqual([`${folder}a`, `${folder}c`, 1]);
    expect(await listAfter(beyond)).toEqual([0]);
  });

  test('a list at a past revision is exact, page by page, whatever happened since', async () => {
    const folder = suite.folder();
    const a = await mustCreate(suite, `${folder}a`, 'a1');
    const b = await mustCreate(suite, `${folder}b`, 'b1');
    const c = await mustCreate(suite, `${folder}c`, 'c1');
    const e = await mustCreate(suite, `${folder}e`, 'e1');
    const a2 = await mustUpdate(suite, `${folder}a`, a, 'a2');
    await mustUpdate(suite, `${folder}a`, a2, 'a3');
    const deleted = await mustDelete(suite, `${folder}b`, b);
    await mustCreate(suite, `${folder}b`, 'b2');
    await mustDelete(suite, `${folder}c`, c);
    await mustCreate(suite, `${folder}d`, 'd1');
    const linesAt = async (revision: number, limit?: number, after?: string): Promise<string[]> => {
      const options = {
        revision,
        ...(limit === undefined ? {} : { limit }),
        ...(after === undefined ? {} : { after }),
      };
      const page = await suite.backend().list(folder, options, deadline());
      expect(page.revision).toBe(revision);
      return [
        ...page.records.map((each) => `${each.value.toString()}@${String(each.revision)}`),
        `+${String(page.remaining)}`,
      ];
    };
    const at = { a: `a1@${String(a)}`, b: `b1@${String(b)}`, c: `c1@${String(c)}`, e: `e1@${String(e)}` };
    expect(await linesAt(e)).toEqual([at.a, at.b, at.c, at.e, '+0']);
    expect(await linesAt(a)).toEqual([at.a, '+0']);
    expect(await linesAt(a2)).toEqual([`a2@${String(a2)}`, at.b, at.c, at.e, '+0']);
    expect((await linesAt(deleted)).slice(1)).toEqual([at.c, at.e, '+0']);
    expect(await linesAt(e, 2)).toEqual([at.a, at.b, '+2']);
    expect(await linesAt(e, 2, `${folder}b`)).toEqual([at.c, at.e, '+0']);
  });

  test('the revision of a list says when it was taken', async () => {
    const folder = suite.folder();
    const first = await mustCreate(suite, `${folder}a`, 'a');
    const listed = await suite.backend().list(folder, {}, deadline());
    expect(listed.revision).toBeGreaterThanOrEqual(first);
    const second = await mustCreate(suite, `${folder}b`, 'b');
    expect(second).toBeGreaterThan(listed.revision);
    const again = await suite.backend().list(folder, { revision: listed.revision }, deadline());
    expect(keysOf(again.records)).toEqual([`${folder}a`]);
  });

  test('a list at a revision that has not happened is refused as future', async () => {
    const folder = suite.folder();
    const revision = (await suite.backend().currentRevision(deadline())) + 1000;
    await storageErrorOf(suite.backend().list(folder, { revision }, deadline()), 'future');
  });

  test('compaction refuses lists below it, keeps the one at it exact, and leaves the newest state alone', async () => {
    const folder = suite.folder();
    const a = await mustCreate(suite, `${folder}a`, 'a1');
    const b = await mustCreate(suite, `${folder}b`, 'b1');
    const a2 = await mustUpdate(suite, `${folder}a`, a, 'a2');
    const a3 = await mustUpdate(suite, `${folder}a`, a2, 'a3');
    const gone = await mustDelete(suite, `${folder}b`, b);
    await suite.backend().compact(a2, deadline());
    await storageErrorOf(suite.backend().list(folder, { revision: b }, deadline()), 'compacted');
    const past = await suite.backend().list(folder, { revision: a2 }, deadline());
    expect(past.records.map(({ value }) => value.toString())).toEqual(['a2', 'b1']);
    await suite.backend().compact(gone, deadline());
    await storageErrorOf(suite.backend().list(folder, { revision: a3 }, deadline()), 'compacted');
    const now = await suite.backend().list(folder, {}, deadline());
    expect(now.records.map(({ value, revision }) => [value.toString(), revision])).toEqual([['a3', a3]]);
    expect((await suite.backend().get(`${folder}a`, deadline())).record?.revision).toBe(a3);
  });

  test('compacting twice, and compacting a compacted revision, is no error', async () => {
    const revision = await mustCreate(suite, `${suite.folder()}a`, 'a');
    await suite.backend().compact(revision, deadline());
    await suite.backend().compact(revision, deadline());
    await suite.backend().compact(revision - 1, deadline());
    expect(await suite.backend().currentRevision(deadline())).toBeGreaterThanOrEqual(revision);
  });
}

function keysOf(records: readonly { readonly key: string }[]): string[] {
  return records.map(({ key }) => key);
}
