import { createHash, randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { LRUCache } from 'lru-cache';
import { untilAborted } from '../../../../shared/concurrency/abort';
import { StatusError } from '../../../../shared/errors/status-error';
import type { ApiObject } from '../../../../shared/object/object';
import { encodeObject } from '../../../../shared/schema/encode';
import { conversionError } from '../../../engine/registry/custom-errors';
import { ConversionNeeded } from '../../../engine/registry/conversion-needed';
import { CONVERSION_TIMES } from './conversion-times';
import type { FaultWords } from './converted-object';
import { convertedObject } from './converted-object';
import type { ConversionQuestion } from './conversion-review';
import { conversionBody, convertedIn } from './conversion-review';
import type { CallConversion, ConversionWebhook } from './conversion-webhook';

/** The cache keeps conversions that writes and field managers need again within one request. */
const KEPT_BYTES_MAX = 8 * 1024 * 1024;

interface Encoded {
  readonly object: ApiObject;
  readonly json: Buffer;
}

/** Converts the objects of one definition into other versions, by its webhook. */
export class Converter {
  readonly #webhook: () => ConversionWebhook;
  readonly #call: CallConversion;
  #asked: ConversionWebhook | undefined;
  /** Keyed by the source object and the target version. */
  readonly #kept = new LRUCache<string, ApiObject>({ maxSize: KEPT_BYTES_MAX, maxEntrySize: KEPT_BYTES_MAX });

  /** `webhook` is called on first use. */
  constructor(webhook: () => ConversionWebhook, call: CallConversion) {
    this.#webhook = webhook;
    this.#call = call;
  }

  /** Returns the object in another version from the cache. Throws ConversionNeeded on a cache miss. */
  convertKept(object: ApiObject, apiVersion: string): ApiObject {
    const json = encodeObject(object);
    const key = keyOf(json, apiVersion);
    const known = this.#kept.get(key);
    if (known !== undefined) return known;
    throw new ConversionNeeded(async (signal) => {
      const [converted] = await this.#batch([{ object, json }], apiVersion, signal);
      if (converted !== undefined) this.#kept.set(key, converted, { size: json.length + 1 });
    });
  }

  /**
   * Converts the objects with one review into one other version, in their order. Throws InternalError (500) if an object cannot be
   * converted, TooManyRequests (429) if the webhook's queue is full, and the signal's reason.
   */
  async convert(
    objects: readonly ApiObject[],
    apiVersion: string,
    signal: AbortSignal,
  ): Promise<readonly ApiObject[]> {
    if (objects.length === 0) return [];
    return this.#batch(
      objects.map((object) => ({ object, json: encodeObject(object) })),
      apiVersion,
      signal,
    );
  }

  async #batch(
    batch: readonly Encoded[],
    apiVersion: string,
    signal: AbortSignal,
  ): Promise<readonly ApiObject[]> {
    signal.throwIfAborted();
    const { apiVersion: from = '', kind = '' } = batch[0]?.object ?? { metadata: {} };
    const subject = `conversion webhook for ${from}, Kind=${kind}`;
    const startedAt = performance.now();
    const note = (succeeded: 'true' | 'false'): void => {
      const about = { crd_name: this.#asked?.definition ?? '', from_version: versionOf(from) };
      const labels = { ...about, to_version: versionOf(apiVersion), succeeded };
      CONVERSION_TIMES.observe(labels, performance.now() - startedAt);
    };
    try {
      const converted = await this.#review(batch, { apiVersion, subject }, signal);
      note('true');
      return converted;
    } catch (error) {
      signal.throwIfAborted();
      note('false');
      throw error instanceof StatusError ? error : conversionError(error);
    }
  }

  async #review(
    batch: readonly Encoded[],
    { apiVersion, subject }: { readonly apiVersion: string; readonly subject: string },
    signal: AbortSignal,
  ): Promise<readonly ApiObject[]> {
    const webhook = (this.#asked ??= this.#webhook());
    const { reviewVersion: version } = webhook;
    if (version === undefined) throw new Error('no supported conversion review versions');
    const question: ConversionQuestion = {
      uid: randomUUID(),
      version,
      desiredApiVersion: apiVersion,
      objects: batch.map(({ json }) => json),
    };
    let converted: readonly unknown[];
    try {
      const answer = this.#call(webhook, conversionBody(question), signal);
      converted = convertedIn(await untilAborted(answer, signal), question);
    } catch (error) {
      if (error instanceof StatusError) throw error;
      throw new Error(`${subject} failed: ${(error as Error).message}`, { cause: error });
    }
    if (converted.length !== batch.length) {
      const counts = `${String(converted.length)} objects, expected ${String(batch.length)}`;
      throw new Error(`${subject} returned ${counts}`);
    }
    return batch.map(({ object }, index) => {
      const words = wordsOf(subject, batch.length === 1 ? undefined : index);
      return convertedObject(object, { value: converted[index], apiVersion, words });
    });
  }
}

function versionOf(apiVersion: string): string {
  return apiVersion.slice(apiVersion.indexOf('/') + 1);
}

function wordsOf(subject: string, index: number | undefined): FaultWords {
  if (index === undefined) {
    return { object: `${subject} returned invalid object`, metadata: `${subject} returned invalid metadata` };
  }
  const at = `at index ${String(index)}`;
  return {
    object: `${subject} returned invalid converted object ${at}`,
    metadata: `${subject} returned invalid metadata in object ${at}`,
  };
}

function keyOf(json: Buffer, apiVersion: string): string {
  return createHash('sha256').update(apiVersion).update('\n').update(json).digest('base64');
}
