import { StatusError } from '../../../shared/errors/status-error';
import { KUBERNETES_PROTOBUF, MEDIA_TYPE } from '../../../shared/names';
import type { Exchange } from '../request/exchange';

/**
 * Refuses what the router of upstream refuses before a handler sees the request: a body of a type that the route does not take
 * (`consumes`; absent: it takes all), and an Accept that names nothing it can write. It compares letter by letter and knows no `application/*`.
 * Throws UnsupportedMediaType (415) and NotAcceptable (406). Custom resources and `/apis` have no such router.
 */
export function refuseUnrouted(
  { headers }: Pick<Exchange, 'headers'>,
  {
    consumes,
    produces = PRODUCED,
  }: { readonly consumes?: readonly string[]; readonly produces?: readonly string[] } = {},
): void {
  const isTaken = consumes === undefined || namesOne(headers['content-type'] ?? '', consumes);
  // As upstream: without a body the type is forgiven, and then no route is left that could write an answer.
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
  // What nearly every request says.
  if (accept === undefined || accept === '') return true;
  if (accept === MEDIA_TYPE.json && produces === PRODUCED) return true;
  return namesOne(accept, produces);
}

/** Whether a header has one of these types as an element, whatever its parameters. */
function namesOne(header: string, types: readonly string[]): boolean {
  return header.split(',').some((element) => types.includes((element.split(';', 1)[0] ?? '').trim()));
}

function refusal(reason: 'UnsupportedMediaType' | 'NotAcceptable', message: string): StatusError {
  return new StatusError(reason, message, { details: {} });
}
