import type { IncomingHttpHeaders } from 'node:http';

/** Headers as a listener receives them: a list of values is one header sent several times. */
export function rawHeadersOf(headers: IncomingHttpHeaders): readonly string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().flatMap((each) => [name, each]),
  );
}
