import { decodeObject } from './decode';
import { getEmptiedFields, copyEmptied } from './emptied';
import { messageType } from './types';

const POLICY = messageType('networking/v1.NetworkPolicy');
const read = (value: object): object => decodeObject(POLICY, value, { empty: 'keep' }).object;

test('names of empty lists and maps are recorded by top-level field', () => {
  const sent = read({
    metadata: { labels: {} },
    spec: { podSelector: { matchLabels: {} }, ingress: [], egress: [{ to: [] }] },
  });
  expect([...getEmptiedFields(sent, 'spec')].sort()).toEqual(['ingress', 'matchLabels', 'to']);
  expect([...getEmptiedFields(sent, 'metadata')]).toEqual(['labels']);
  expect([...getEmptiedFields(sent, 'status')]).toEqual([]);
});

test('null, absent and non-empty values are not recorded', () => {
  const sent = read({ spec: { podSelector: {}, ingress: null, egress: [{}] } });
  expect([...getEmptiedFields(sent, 'spec')]).toEqual([]);
});

test('copies keep the symbol, copyEmptied restores it, and JSON and keys do not show it', () => {
  const sent = read({ spec: { podSelector: {}, ingress: [] } });
  expect([...getEmptiedFields({ ...sent }, 'spec')]).toEqual(['ingress']);
  expect([...getEmptiedFields(copyEmptied(sent, { spec: {} }), 'spec')]).toEqual(['ingress']);
  expect(JSON.stringify(sent)).toBe(JSON.stringify(decodeObject(POLICY, sent).object));
  expect(Object.keys(sent).sort()).toEqual(['metadata', 'spec']);
});
