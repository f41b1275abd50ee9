import { decodeObject } from './decode';
import { getEmptiedFields, copyEmptied } from './emptied';
import { messageType } from './types';

const POLICY = messageType('networking/v1.NetworkPolicy');
const read = (value: object): object => decodeObject(POLICY, value, { empty: 'keep' }).object;

test('empty lists and maps are known by the field of the object that they were sent in', () => {
  const sent = read({
    metadata: { labels: {} },
    spec: { podSelector: { matchLabels: {} }, ingress: [], egress: [{ to: [] }] },
  });
  expect([...getEmptiedFields(sent, 'spec')].sort()).toEqual(['ingress', 'matchLabels', 'to']);
  expect([...getEmptiedFields(sent, 'metadata')]).toEqual(['labels']);
  expect([...getEmptiedFields(sent, 'status')]).toEqual([]);
});

test('null, what is absent and what is full are none', () => {
  const sent = read({ spec: { podSelector: {}, ingress: null, egress: [{}] } });
  expect([...getEmptiedFields(sent, 'spec')]).toEqual([]);
});

test('it goes along with copies, to what is made of the object, and to nobody who reads its fields', () => {
  const sent = read({ spec: { podSelector: {}, ingress: [] } });
  expect([...getEmptiedFields({ ...sent }, 'spec')]).toEqual(['ingress']);
  expect([...getEmptiedFields(copyEmptied(sent, { spec: {} }), 'spec')]).toEqual(['ingress']);
  expect(JSON.stringify(sent)).toBe(JSON.stringify(decodeObject(POLICY, sent).object));
  expect(Object.keys(sent).sort()).toEqual(['metadata', 'spec']);
});
