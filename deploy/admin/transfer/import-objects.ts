import type { Client } from '../../../shared/client/client';
import type { ResourceRow } from '../../../shared/client/discovery';
import { discover } from '../../../shared/client/discovery';
import { statusErrorFromAnswer } from '../../../shared/client/status';
import { pause } from '../../../shared/concurrency/pause';
import type { ImportReport } from '../../../shared/files/object-import';
import type { ApiObject } from '../../../shared/object/object';
import { OBJECT_IMPORT_LINES_MAX, OBJECT_IMPORT_PATH } from '../../../shared/files/object-import';

export interface ImportSummary {
  readonly stored: number;
  /** Sentences about the objects that were not stored. */
  readonly refused: readonly string[];
}

/** A request holds at most this, unless one object is larger. */
const BATCH_BYTES = 1024 * 1024;
/** Batches under way: the server reads the next one while the store writes. */
const BATCHES_MAX = 2;
const NEWLINE = Buffer.from('\n');
const INITIAL_NAMESPACES_MAX = 4;
const CALL_TIMEOUT_MS = 5 * 60_000;
/** How long kinds may take to be served after their definitions were stored. */
const SERVED_MS_MAX = 30_000;
const SERVED_RETRY_MS = 100;
/** Objects of kinds that are not served yet are held in memory. */
const WAITING_OBJECTS_MAX = 100_000;

/** Throws an Error if the server has namespaces or definitions beside those of a new one. */
export async function assertEmpty(client: Client, signal?: AbortSignal): Promise<void> {
  const count = async (name: string, limit: number): Promise<number> => {
    const row = await findResource(client, name, signal);
    return row === undefined ? 0 : (await client.list(row, { limit, signal })).items.length;
  };
  const namespaces = await count('namespaces', INITIAL_NAMESPACES_MAX + 1);
  if (namespaces <= INITIAL_NAMESPACES_MAX && (await count('customresourcedefinitions', 1)) === 0) return;
  throw new Error(
    'the store of the server is not empty: it has namespaces or definitions of its own. Start a server on an empty store, or import with --replace over what is there',
  );
}

async function findResource(
  client: Client,
  name: string,
  signal: AbortSignal | undefined,
): Promise<ResourceRow | undefined> {
  const { resources } = await discover(client, { signal });
  return resources.find(({ resource, isPreferred }) => resource === name && isPreferred);
}

/**
 * Stores objects as they are, over those of the same name. An object whose kind is not served yet waits until all others are stored, because
 * its definition may be among them, and then until the server serves a kind that is defined. Throws a StatusError if the server refuses the
 * import as a whole.
 *
 * @param objects JSON texts without line breaks.
 */
export async function importObjects(
  client: Client,
  objects: AsyncIterable<Buffer>,
  signal: AbortSignal = new AbortController().signal,
): Promise<ImportSummary> {
  const run = new ImportRun(client, signal);
  for await (const object of objects) await run.add(object);
  return run.finish();
}

interface Waiting {
  readonly object: Buffer;
  readonly reason: string;
}

type Definition = ApiObject & {
  readonly spec: { readonly group: string; readonly names: { readonly kind: string } };
};

/** The kind and the group of an object that the server could read. */
function kindOf(object: Buffer): string {
  const { apiVersion = '', kind = '' } = JSON.parse(object.toString()) as Partial<ApiObject>;
  return `${kind}.${apiVersion.slice(0, Math.max(0, apiVersion.indexOf('/')))}`;
}

class ImportRun {
  readonly #client: Client;
  readonly #signal: AbortSignal;
  #stored = 0;
  readonly #refused: string[] = [];
  #waiting: Waiting[] = [];
  #batch: Buffer[] = [];
  #batchBytes = 0;
  readonly #underWay = new Set<Promise<void>>();
  #failure: Error | undefined;

  constructor(client: Client, signal: AbortSignal) {
    this.#client = client;
    this.#signal = signal;
  }

  async add(object: Buffer): Promise<void> {
    if (this.#batchBytes + object.length > BATCH_BYTES || this.#batch.length >= OBJECT_IMPORT_LINES_MAX)
      await this.#send();
    this.#batch.push(object);
    this.#batchBytes += object.length + 1;
  }

  async finish(): Promise<ImportSummary> {
    await this.#drain();
    const untilMs = Date.now() + SERVED_MS_MAX;
    const defined = this.#waiting.length === 0 ? new Set() : await this.#definedKinds();
    while (this.#waiting.some(({ object }) => defined.has(kindOf(object))) && Date.now() < untilMs) {
      const again = this.#waiting;
      this.#waiting = [];
      for (const { object } of again) await this.add(object);
      await this.#drain();
      if (this.#waiting.length === again.length) await pause(SERVED_RETRY_MS, this.#signal);
      this.#signal.throwIfAborted();
    }
    return {
      stored: this.#stored,
      refused: [...this.#refused, ...this.#waiting.map(({ reason }) => reason)],
    };
  }

  /** The kinds of the definitions of the server, as `kindOf` writes them. */
  async #definedKinds(): Promise<ReadonlySet<string>> {
    const row = await findResource(this.#client, 'customresourcedefinitions', this.#signal);
    if (row === undefined) return new Set();
    const { items } = await this.#client.listAll<Definition>(row, { signal: this.#signal });
    return new Set(items.map(({ spec }) => `${spec.names.kind}.${spec.group}`));
  }

  async #drain(): Promise<void> {
    await this.#send();
    await Promise.all(this.#underWay);
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #send(): Promise<void> {
    const batch = this.#batch;
    this.#batch = [];
    this.#batchBytes = 0;
    if (batch.length === 0) return;
    const sending: Promise<void> = this.#post(batch)
      .catch((error: unknown) => {
        this.#failure ??= error instanceof Error ? error : new Error(String(error));
      })
      .finally(() => this.#underWay.delete(sending));
    this.#underWay.add(sending);
    while (this.#underWay.size >= BATCHES_MAX) await Promise.race(this.#underWay);
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #post(batch: readonly Buffer[]): Promise<void> {
    const { code, body } = await this.#client.request({
      method: 'POST',
      path: OBJECT_IMPORT_PATH,
      body: Buffer.concat(batch.flatMap((object) => [object, NEWLINE])),
      signal: this.#signal,
      timeoutMs: CALL_TIMEOUT_MS,
    });
    if (code === 404) throw new Error('the server accepts no import; it needs --enable-object-import=true');
    if (code !== 200) throw statusErrorFromAnswer({ code, text: body.toString() });
    const report = JSON.parse(body.toString()) as ImportReport;
    this.#stored += report.stored;
    for (const { line, kind, reason } of report.refused) {
      const object = batch[line];
      if (kind === 'not served' && object !== undefined && this.#waiting.length < WAITING_OBJECTS_MAX) {
        this.#waiting.push({ object, reason });
      } else this.#refused.push(reason);
    }
  }
}
