import { fieldsOf, text } from '../../../../shared/object/accessors';
import { isJsonObject } from '../../../../shared/object/clone';
import { GROUP } from '../../../../shared/names';
import { decodeJson } from '../../../../shared/schema/decode';
import type { ConversionReviewVersion } from './conversion-webhook';

/** The input of a conversion review: objects as JSON and their common target version. */
export interface ConversionQuestion {
  readonly uid: string;
  readonly version: ConversionReviewVersion;
  readonly desiredApiVersion: string;
  readonly objects: readonly Buffer[];
}

/** Builds the JSON body of a ConversionReview. */
export function conversionBody({ uid, version, desiredApiVersion, objects }: ConversionQuestion): Buffer {
  const head =
    `{"kind":"ConversionReview","apiVersion":"${GROUP.apiextensions}/${version}",` +
    `"request":{"uid":${JSON.stringify(uid)},"desiredAPIVersion":${JSON.stringify(desiredApiVersion)},"objects":[`;
  const parts = objects.flatMap((object, index) => (index === 0 ? [object] : [COMMA, object]));
  return Buffer.concat([Buffer.from(head), ...parts, TAIL]);
}

const COMMA = Buffer.from(',');
const TAIL = Buffer.from(']}}');

interface Response {
  readonly uid: string;
  readonly result: unknown;
  readonly convertedObjects: unknown;
}

interface Result {
  readonly status: string;
  readonly message: string;
}

/**
 * Returns the converted objects of a webhook response, unvalidated. Throws an Error with upstream's message if the response is malformed
 * or reports a failure.
 */
export function convertedIn(answer: Buffer, { uid, version }: ConversionQuestion): readonly unknown[] {
  const review = fieldsOf<{ kind: string; apiVersion: string; response: unknown }>(decodeJson(answer));
  const expected = `${GROUP.apiextensions}/${version}`;
  const [kind, apiVersion] = [text(review.kind), text(review.apiVersion)];
  // For v1beta1, upstream checks neither kind nor uid.
  if (version === 'v1' && (kind !== 'ConversionReview' || apiVersion !== expected)) {
    throw new Error(
      `expected webhook response of ${expected}, Kind=ConversionReview, got ${apiVersion}, Kind=${kind}`,
    );
  }
  if (!isJsonObject(review.response)) throw new Error('no response provided');
  const response = fieldsOf<Response>(review.response);
  const answered = text(response.uid);
  if (version === 'v1' && answered !== uid) {
    throw new Error(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(answered)}`);
  }
  const result = fieldsOf<Result>(response.result);
  const status = text(result.status);
  if (status !== 'Success') {
    const message = text(result.message);
    throw new Error(message === '' ? `response.result.status was '${status}', not 'Success'` : message);
  }
  return Array.isArray(response.convertedObjects) ? response.convertedObjects : [];
}
