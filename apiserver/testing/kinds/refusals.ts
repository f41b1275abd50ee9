import type { InProcessApi, Reply } from '../in-process-api';

/** One bad object: what it is, its body, and the causes as `Reason field`, without the `FieldValue` that all reasons begin with. */
export type Refusal = readonly [title: string, body: unknown, causes: readonly string[]];

/** The causes of a 422, sorted, each once. Any other response yields its code and message. */
export function causesOf(reply: Reply): readonly string[] {
  if (reply.code !== 422) return [`${String(reply.code)} ${String(reply.json?.message ?? '')}`];
  const causes = (reply.json.details.causes ?? []) as readonly { reason: string; field: string }[];
  return [
    ...new Set(causes.map(({ reason, field }) => `${reason.replace('FieldValue', '')} ${field}`)),
  ].sort();
}

/** Creates an object and returns the causes of the refusal. */
export async function refusalOf(api: InProcessApi, url: string, body: unknown): Promise<readonly string[]> {
  return causesOf(await api.call('POST', url, { body }));
}
