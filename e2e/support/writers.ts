import { setTimeout as delay } from 'node:timers/promises';
import type { Answer, ApiClient } from './client';
import { configMap } from './objects';

/** The result of the writers. Versions are resourceVersions of acknowledged writes. */
export interface WriteLedger {
  /** By object: the versions of its acknowledged writes in order. */
  readonly acknowledged: ReadonlyMap<string, readonly string[]>;
  /** The number of writes of unknown outcome. */
  readonly unknownOutcomes: number;
}

export interface WritersOptions {
  /** Each writer uses these in turn, so that every replica gets writes. */
  readonly clients: readonly ApiClient[];
  /** The collection of configmaps. */
  readonly path: string;
  /** Each object is created and then updated once: two writes. */
  readonly objects: number;
  readonly concurrency: number;
  readonly namePrefix: string;
  /** Called after every acknowledged write with their number so far. */
  readonly onAcknowledged?: (count: number) => void;
}

/**
 * Creates and updates objects through all replicas while the test injects faults. After a write of unknown outcome the writer does a consistent
 * read before the next step.
 */
export async function runWriters(options: WritersOptions): Promise<WriteLedger> {
  const acknowledged = new Map<string, string[]>();
  let unknownOutcomes = 0;
  let count = 0;
  let next = 0;

  const acknowledge = (name: string, answer: Answer): void => {
    const version = answer.body.metadata?.resourceVersion;
    if (version === undefined) throw new Error(`an acknowledged write of ${name} has no resourceVersion`);
    acknowledged.set(name, [...(acknowledged.get(name) ?? []), version]);
    count++;
    options.onAcknowledged?.(count);
  };

  /** Retries until the object has `step`; the first definite response counts, later ones only reconcile. */
  const write = async (name: string, step: 'created' | 'updated', turn: number): Promise<void> => {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const client = options.clients[(turn + attempt) % options.clients.length];
      if (client === undefined) throw new Error('no client to write with');
      const body = configMap(name, { step });
      const answer = await (
        step === 'created'
          ? client.create(options.path, body)
          : client.update(`${options.path}/${name}`, body)
      ).catch(() => undefined);
      if (answer !== undefined && answer.status < 300) {
        acknowledge(name, answer);
        return;
      }
      if (
        answer !== undefined &&
        answer.status < 500 &&
        !(answer.status === 409 && attempt > 0) &&
        answer.status !== 429
      ) {
        throw new Error(`Write of ${name} was refused: ${String(answer.status)} ${answer.text}`);
      }
      unknownOutcomes++;
      if ((await stepOf(name)) === step) return;
      await delay(RETRY_DELAY_MS);
    }
    throw new Error(`Write of ${name} had no clear outcome in ${String(ATTEMPTS_MAX)} attempts.`);
  };

  const stepOf = async (name: string): Promise<string | undefined> => {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const client = options.clients[attempt % options.clients.length];
      const answer = await client?.get(`${options.path}/${name}`).catch(() => undefined);
      if (answer?.status === 200) return answer.body.data?.['step'];
      if (answer?.status === 404) return undefined;
      await delay(RETRY_DELAY_MS);
    }
    throw new Error(`the state of ${name} is unknown`);
  };

  const writer = async (): Promise<void> => {
    while (next < options.objects) {
      const index = next++;
      const name = `${options.namePrefix}-${String(index)}`;
      await write(name, 'created', index);
      await write(name, 'updated', index + 1);
    }
  };
  await Promise.all(Array.from({ length: options.concurrency }, writer));
  return { acknowledged, unknownOutcomes };
}

const ATTEMPTS_MAX = 200;
const RETRY_DELAY_MS = 100;
