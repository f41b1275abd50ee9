import { decodeObject } from '../schema/decode';
import { filledObject } from '../schema/testing/samples';
import type { MessageType } from '../schema/types';
import { messageType } from '../schema/types';
import { decodeProtobuf } from './decode';
import { encodeProtobuf } from './encode';
import { kindMessages, withoutTypeMeta } from './testing/kinds';
import { plainDecode, wireFields } from './testing/plain-decoder';

function canonical(type: MessageType, value: object): Record<string, unknown> {
  return withoutTypeMeta(type, decodeObject(type, value).object as Record<string, unknown>);
}

describe.each(kindMessages())('%s', (name) => {
  const type = messageType(name);
  const filled = canonical(type, filledObject(type));
  const empty = canonical(type, {});

  test('filled and empty objects survive a Protobuf round-trip', () => {
    expect(canonical(type, decodeProtobuf(type, encodeProtobuf(type, filled)))).toEqual(filled);
    expect(canonical(type, decodeProtobuf(type, encodeProtobuf(type, empty)))).toEqual(empty);
  });

  test('Protobuf survives a JSON round-trip byte for byte', () => {
    const bytes = encodeProtobuf(type, filled);
    const json = JSON.stringify(canonical(type, decodeProtobuf(type, bytes)));
    expect(encodeProtobuf(type, JSON.parse(json) as object)).toEqual(bytes);
  });

  test('an independent decoder reads the same', () => {
    const read = plainDecode(name, encodeProtobuf(type, filled));
    expect(canonical(type, read)).toEqual(filled);
  });
});

describe('wire format', () => {
  const pod = messageType('core/v1.Pod');

  test('zero values are written for fields without a pointer only', () => {
    const fields = wireFields(encodeProtobuf(messageType('core/v1.Container'), { name: 'c' }));
    expect([...fields.keys()]).toEqual([1, 2, 5, 8, 13, 14, 16, 17, 18, 20]);
    expect(String(fields.get(1))).toBe('c');
    expect(fields.get(16)).toEqual([0n]);
    expect(fields.get(8)).toEqual([Buffer.alloc(0)]);
  });

  test('an unset completionMode is not written', () => {
    const job = messageType('batch/v1.JobSpec');
    expect(wireFields(encodeProtobuf(job, {})).has(9)).toBe(false);
    expect(decodeProtobuf(job, encodeProtobuf(job, { completionMode: '' }))['completionMode']).toBe('');
  });

  test('the zero time is an empty message, other times have seconds and nanoseconds', () => {
    const meta = messageType('meta/v1.ObjectMeta');
    expect(wireFields(encodeProtobuf(meta, {})).get(8)).toEqual([Buffer.alloc(0)]);
    const [time] =
      wireFields(encodeProtobuf(meta, { creationTimestamp: '1970-01-01T00:00:01Z' })).get(8) ?? [];
    expect(time).toEqual(Buffer.from([0x08, 0x01, 0x10, 0x00]));
  });

  test('map entries are sorted by key, fields by number', () => {
    const bytes = encodeProtobuf(messageType('core/v1.ConfigMap'), {
      immutable: true,
      data: { b: '2', a: '1' },
      metadata: { name: 'x' },
    });
    const fields = wireFields(bytes);
    expect([...fields.keys()]).toEqual([1, 2, 4]);
    expect(
      fields.get(2)?.map((entry) =>
        wireFields(entry as Buffer)
          .get(1)
          ?.toString(),
      ),
    ).toEqual(['a', 'b']);
  });

  test('an empty value of a map of bytes is written, an absent one is not', () => {
    const bytes = encodeProtobuf(messageType('core/v1.Secret'), { data: { empty: '', none: null } });
    const entries = wireFields(bytes)
      .get(2)
      ?.map((entry) => [...wireFields(entry as Buffer).keys()]);
    expect(entries).toEqual([[1, 2], [1]]);
  });

  test('integers of 64 bits are exact, negative ones and those beyond 53 bits too', () => {
    const type = messageType('apps/v1.ControllerRevision');
    for (const revision of [0, 1, -1, 2 ** 31, -(2 ** 40), 2 ** 53 - 1, 2n ** 63n - 1n, -(2n ** 63n)]) {
      expect(decodeProtobuf(type, encodeProtobuf(type, { revision }))['revision']).toBe(revision);
    }
  });

  test('text of any script is preserved, lone surrogates are replaced', () => {
    const type = messageType('core/v1.ConfigMap');
    const long = 'ä€😀'.repeat(50);
    const read = decodeProtobuf(
      type,
      encodeProtobuf(type, { data: { short: 'ä€😀', long, lone: '\ud800' } }),
    );
    expect({ ...(read['data'] as object) }).toEqual({ short: 'ä€😀', long, lone: '\ufffd' });
  });

  test('a key __proto__ is ordinary data', () => {
    const labels = JSON.parse('{"__proto__":"x"}') as object;
    const read = decodeProtobuf(pod, encodeProtobuf(pod, { metadata: { labels } }));
    const metadata = read['metadata'] as Record<string, object>;
    expect(Object.entries(metadata['labels'] ?? {})).toEqual([['__proto__', 'x']]);
  });

  test('the buffer grows for a larger message', () => {
    const type = messageType('core/v1.ConfigMap');
    const data = { x: 'y'.repeat(300_000), z: 'ü'.repeat(100_000) };
    expect({ ...(decodeProtobuf(type, encodeProtobuf(type, { data }))['data'] as object) }).toEqual(data);
  });
});
