import { StatusError } from '../../../shared/errors/status-error';
import { KUBERNETES_PROTOBUF, MEDIA_TYPE } from '../../../shared/names';
import type { Exchange } from '../request/exchange';
import { listElements } from '../request/header-values';

/**
 * Refuses what upstream’s router refuses before a handler runs: a Content-Type that the route does not consume
 * (`consumes`; absent: any), and an Accept header without a produced type. Types are compared exactly, without
 * `application/*`. Throws UnsupportedMediaType (415) and NotAcceptable (406). Custom resources and `/apis` have no
 * such router.
 */
export function refuseUnrouted(
  { headers }: Pick<Exchange, 'headers'>,
  {
    consumes,
    produces = PRODUCED,
  }: { readonly consumes?: readonly string[]; readonly produces?: readonly string[] } = {},
): void {
  const isTaken = consumes === undefined || namesOne(headers['content-type'] ?? '', consumes);
  // As upstream: without a body a wrong type is no 415, but no route is left that could produce an answer.
  if (!isTaken && Number(headers['content-length'] ?? 0) > 0) {
    throw refusal('UnsupportedMediaType', '415: Unsupported Media Type');
  }
  if (!isTaken || !isProduced(headers.accept, produces))
    throw refusal('NotAcceptable', '406: Not Acceptable');
}

const PRODUCED: readonly string[] = [
  '*/*',
  MEDIA_TYPE.json,
  MEDIA_TYPE.yaml,
  MEDIA_TYPE.protobuf,
  KUBERNETES_PROTOBUF,
];

function isProduced(accept: string | undefined, produces: readonly string[]): boolean {
  // Fast path.
  if (accept === undefined || accept === '') return true;
  if (accept === MEDIA_TYPE.json && produces === PRODUCED) return true;
  return namesOne(accept, produces);
}

/** Returns whether a header lists one of the types, ignoring parameters. */
function namesOne(header: string, types: readonly string[]): boolean {
  return listElements(header).some((element) => types.includes((element.split(';', 1)[0] ?? '').trim()));
}

function refusal(reason: 'UnsupportedMediaType' | 'NotAcceptable', message: string): StatusError {
  return new StatusError(reason, message, { details: {} });
}
