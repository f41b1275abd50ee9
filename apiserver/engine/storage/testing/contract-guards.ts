import type { Suite } from './suite';
import { bytes, isFullScale, mustCreate, mustDelete, mustUpdate } from './suite';
import { WatchRecorder } from './watch-recorder';

const WRITERS = 16;
const ROUNDS = isFullScale ? 200 : 10;

/** Creates that rely on another record. */
export function describeGuards(suite: Suite): void {
  const { deadline } = suite;

  test('a create whose guard is unchanged takes one revision, with its own key as the only event', async () => {
    const folder = suite.folder();
    const guard = { key: `${folder}guard`, revision: await mustCreate(suite, `${folder}guard`, 'one') };
    const recorder = new WatchRecorder(suite.backend(), { from: guard.revision + 1, prefix: folder });
    const outcome = await suite.backend().create(`${folder}a`, bytes('x'), { guards: [guard] }, deadline());
    expect(outcome).toEqual({ ok: true, revision: guard.revision + 1 });
    await recorder.reach(outcome.revision);
    await recorder.stop();
    expect(recorder.revisions).toEqual([
      {
        revision: outcome.revision,
        events: [{ type: 'put', key: `${folder}a`, value: bytes('x'), created: true }],
      },
    ]);
  });

  test('a create whose guard was updated, deleted or recreated writes nothing and returns no record', async () => {
    const folder = suite.folder();
    const guard = { key: `${folder}guard`, revision: await mustCreate(suite, `${folder}guard`, 'one') };
    const refused = async (): Promise<void> => {
      const before = await suite.backend().currentRevision(deadline());
      const outcome = await suite
        .backend()
        .create(`${folder}a`, bytes('x'), { guards: [guard], ttlSeconds: 3600 }, deadline());
      expect(outcome).toEqual({ ok: false, current: undefined, revision: before });
      expect(await suite.backend().currentRevision(deadline())).toBe(before);
    };
    const updated = await mustUpdate(suite, guard.key, guard.revision, 'two');
    await refused();
    await mustDelete(suite, guard.key, updated);
    await refused();
    await mustCreate(suite, guard.key, 'one');
    await refused();
  });

  test('every one of several guards must stand', async () => {
    const folder = suite.folder();
    const made = async (name: string) => ({
      key: `${folder}${name}`,
      revision: await mustCreate(suite, `${folder}${name}`, name),
    });
    const [one, two] = [await made('one'), await made('two')];
    const create = async (name: string) =>
      suite.backend().create(`${folder}${name}`, bytes('x'), { guards: [one, two] }, deadline());
    expect((await create('first')).ok).toBe(true);
    await mustUpdate(suite, two.key, two.revision, 'changed');
    expect(await create('second')).toMatchObject({ ok: false, current: undefined });
  });

  test('an update takes guards as well; one that does not stand leaves the record as it was, and shows it', async () => {
    const folder = suite.folder();
    const guard = { key: `${folder}guard`, revision: await mustCreate(suite, `${folder}guard`, 'one') };
    const key = `${folder}a`;
    const first = await mustCreate(suite, key, 'one');
    const update = async (expected: number) =>
      suite.backend().update(key, bytes('two'), { expected, guards: [guard] }, deadline());
    const outcome = await update(first);
    expect(outcome.ok).toBe(true);
    await mustUpdate(suite, guard.key, guard.revision, 'changed');
    const current = { key, value: bytes('two'), revision: outcome.revision };
    expect(await update(outcome.revision)).toEqual({ ok: false, current, revision: expect.any(Number) });
  });

  test('a create on an existing key shows its record, whether its guard matches or not', async () => {
    const folder = suite.folder();
    const key = `${folder}a`;
    const current = { key, value: bytes('one'), revision: await mustCreate(suite, key, 'one') };
    const matching = { key: `${folder}guard`, revision: await mustCreate(suite, `${folder}guard`, 'one') };
    for (const guard of [matching, { ...matching, revision: current.revision }]) {
      const outcome = await suite.backend().create(key, bytes('two'), { guards: [guard] }, deadline());
      expect(outcome).toEqual({ ok: false, current, revision: expect.any(Number) });
    }
  });

  test('of creates that race with the end of their guard none comes after it', async () => {
    const folder = suite.folder();
    for (let round = 0; round < ROUNDS; round += 1) {
      const key = `${folder}guard-${String(round)}`;
      const guard = { key, revision: await mustCreate(suite, key, 'one') };
      const creating = Array.from({ length: WRITERS }, async (_, writer) =>
        suite
          .backend()
          .create(`${folder}${String(round)}/${String(writer)}`, bytes('x'), { guards: [guard] }, deadline()),
      );
      const ended = await mustDelete(suite, key, guard.revision);
      for (const outcome of await Promise.all(creating)) {
        if (outcome.ok) expect(outcome.revision).toBeLessThan(ended);
        else expect(outcome.revision).toBeGreaterThanOrEqual(ended);
      }
    }
  });
}
