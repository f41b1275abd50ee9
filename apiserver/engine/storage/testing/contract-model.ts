import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { randomInt } from 'node:crypto';
import type { Suite } from './suite';
import { bytes, isFullScale, storageErrorOf } from './suite';
import { StoreModel } from './store-model';
import { linesOf, WatchRecorder } from './watch-recorder';

const STEPS = isFullScale ? 5000 : 400;
const NAMES = ['a', 'a/b', 'b', 'c', 'é', '\uffee', '😀', 'z'];

/** Random operations against a simple model in memory: every answer of the store must be the model's. */
export function describeModel(suite: Suite): void {
  test('random operations answer like a simple model', async () => {
    const seed = Number(process.env['ORCH_CONTRACT_SEED'] ?? randomInt(2 ** 31));
    const run = new RandomRun(suite, createRandom(seed));
    try {
      await run.start();
      for (let step = 0; step < STEPS; step += 1) await run.step();
      await run.finish();
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      throw new Error(`ORCH_CONTRACT_SEED=${String(seed)} repeats this: ${message}`, { cause: error });
    }
  });
}

/** Numbers in [0, 1) that depend on the seed alone (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

class RandomRun {
  readonly #suite: Suite;
  readonly #random: () => number;
  readonly #folder: string;
  readonly #model = new StoreModel();
  #live: WatchRecorder | undefined;
  #writes = 0;

  constructor(suite: Suite, random: () => number) {
    this.#suite = suite;
    this.#random = random;
    this.#folder = suite.folder();
  }

  async start(): Promise<void> {
    const revision = await this.#suite.backend().currentRevision(this.#suite.deadline());
    this.#model.startAt(revision);
    this.#live = new WatchRecorder(this.#suite.backend(), { from: revision + 1, prefix: this.#folder });
  }

  async step(): Promise<void> {
    const dice = this.#random();
    if (dice < 0.25) await this.#create();
    else if (dice < 0.5) await this.#update();
    else if (dice < 0.65) await this.#delete();
    else if (dice < 0.75) await this.#get();
    else if (dice < 0.92) await this.#list();
    else if (dice < 0.98) await this.#watch();
    else await this.#compact();
  }

  async finish(): Promise<void> {
    const newest = this.#model.newestEvent;
    if (newest > 0) await this.#live?.reach(newest);
    await this.#live?.stop();
    deepStrictEqual(linesOf(this.#live?.revisions ?? []), this.#model.linesFrom(0));
  }

  #pick(): string {
    return `${this.#folder}${NAMES[Math.floor(this.#random() * NAMES.length)] ?? ''}`;
  }

  /** Mostly the right revision of the key, sometimes a wrong one. */
  #expected(key: string): number {
    const current = this.#model.get(key)?.revision ?? this.#model.revision;
    return this.#random() < 0.8 ? current : current - 1;
  }

  /** Every other time none; it may be the key itself, which must be absent. */
  #guard(): { readonly key: string; readonly revision: number } | undefined {
    if (this.#random() < 0.5) return undefined;
    const key = this.#pick();
    return { key, revision: this.#expected(key) };
  }

  #value(): Buffer {
    this.#writes += 1;
    return bytes(`v${String(this.#writes)}`);
  }

  async #create(): Promise<void> {
    const [key, value] = [this.#pick(), this.#value()];
    const current = this.#model.get(key);
    const guard = this.#guard();
    const stands = guard === undefined || this.#model.get(guard.key)?.revision === guard.revision;
    const options = guard === undefined ? {} : { guards: [guard] };
    const outcome = await this.#suite.backend().create(key, value, options, this.#suite.deadline());
    strictEqual(outcome.ok, current === undefined && stands);
    if (outcome.ok) this.#model.put(key, value, outcome.revision);
    else deepStrictEqual(outcome.current, current);
  }

  async #update(): Promise<void> {
    const [key, value] = [this.#pick(), this.#value()];
    const current = this.#model.get(key);
    const expected = this.#expected(key);
    const outcome = await this.#suite.backend().update(key, value, { expected }, this.#suite.deadline());
    strictEqual(outcome.ok, current?.revision === expected);
    if (outcome.ok) this.#model.put(key, value, outcome.revision);
    else deepStrictEqual(outcome.current, current);
  }

  async #delete(): Promise<void> {
    const key = this.#pick();
    const current = this.#model.get(key);
    const expected = this.#expected(key);
    const outcome = await this.#suite.backend().delete(key, expected, this.#suite.deadline());
    strictEqual(outcome.ok, current?.revision === expected);
    if (outcome.ok) {
      deepStrictEqual(outcome.deleted, current);
      this.#model.delete(key, outcome.revision);
    } else {
      deepStrictEqual(outcome.current, current);
    }
  }

  async #get(): Promise<void> {
    const key = this.#pick();
    const { record, revision } = await this.#suite.backend().get(key, this.#suite.deadline());
    deepStrictEqual(record, this.#model.get(key));
    ok(revision >= this.#model.revision);
  }

  async #list(): Promise<void> {
    const past = this.#random() < 0.7 ? this.#revisionInWindow() - (this.#random() < 0.1 ? 1 : 0) : undefined;
    const options = {
      ...(past === undefined ? {} : { revision: past }),
      ...(this.#random() < 0.5 ? { limit: 1 + Math.floor(this.#random() * 4) } : {}),
      ...(this.#random() < 0.5 ? { after: this.#pick() } : {}),
    };
    const listed = this.#suite.backend().list(this.#folder, options, this.#suite.deadline());
    if (past !== undefined && past < this.#model.compactRevision) {
      await storageErrorOf(listed, 'compacted');
      return;
    }
    const expected = this.#model.list(options);
    const { records, remaining } = await listed;
    deepStrictEqual({ records, remaining }, expected);
  }

  async #watch(): Promise<void> {
    const from = this.#revisionInWindow();
    const lines = this.#model.linesFrom(from);
    if (lines.length === 0) return;
    const recorder = new WatchRecorder(this.#suite.backend(), { from, prefix: this.#folder });
    await recorder.reach(this.#model.newestEvent);
    await recorder.stop();
    deepStrictEqual(linesOf(recorder.revisions), lines);
  }

  async #compact(): Promise<void> {
    await this.#live?.reach(this.#model.newestEvent);
    const revision = this.#model.putRevisionNear(this.#revisionInWindow());
    if (revision === undefined) return;
    await this.#suite.backend().compact(revision, this.#suite.deadline());
    this.#model.compactRevision = Math.max(this.#model.compactRevision, revision);
  }

  #revisionInWindow(): number {
    const { compactRevision, revision } = this.#model;
    return compactRevision + Math.floor(this.#random() * (revision - compactRevision + 1));
  }
}
