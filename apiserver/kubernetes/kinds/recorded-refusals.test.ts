import type { InProcessApi, Reply } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';
import RECORDED from '../../testing/kinds/refusals.json';

/** One recorded write: a create, or a create followed by a merge patch of the object or of its subresource. */
interface RecordedWrite {
  readonly url: string;
  readonly body: object;
  readonly patch?: object;
  readonly subresource?: string;
  readonly code: number;
  /** `Reason field`, without the prefix `FieldValue` of the reason; sorted, each once. */
  readonly causes: readonly string[];
}

let api: InProcessApi;
beforeAll(async () => {
  api = await startInProcessApi(undefined, { definitionsLive: false });
});
afterAll(async () => {
  await api.close();
});

function getCauses({ json }: Reply): readonly string[] {
  const causes = (json?.details?.causes ?? []) as readonly { reason: string; field: string }[];
  return [
    ...new Set(causes.map(({ reason, field }) => `${reason.replace('FieldValue', '')} ${field}`)),
  ].toSorted();
}

let count = 0;

async function replay({ url, body, patch, subresource }: RecordedWrite): Promise<Reply> {
  if (patch === undefined) return api.call('POST', `${url}?dryRun=All`, { body });
  count += 1;
  const name = `changed-${String(count)}`;
  const created = await api.call('POST', url, { body: { ...body, metadata: { name } } });
  expect(created.code).toBe(201);
  const path = subresource === undefined ? name : `${name}/${subresource}`;
  return api.call('PATCH', `${url}/${path}`, { body: patch });
}

/** The messages, the order and the repetition of causes are not part of the record. */
describe('a recorded write gets the same code, and causes of the same types and fields', () => {
  const writes = (RECORDED as readonly RecordedWrite[]).map((write, index) => ({ index, ...write }));

  test.each(writes)('#$index $url: $code $causes', async ({ code, causes, ...write }) => {
    const reply = await replay({ code, causes, ...write });
    expect([reply.code, getCauses(reply)]).toEqual([code, causes]);
  });
});
