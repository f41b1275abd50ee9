import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { messageType } from './types';
import { generateTypes, HAND_WRITTEN } from './generate-types';

const FOLDER = path.join(__dirname, '../api/types');

test('the generated types match the tables (run `npm run generate` after a change)', () => {
  const expected = generateTypes();
  expect(readdirSync(FOLDER).sort()).toEqual([...expected.keys()].sort());
  for (const [name, text] of expected) {
    expect({ name, text: readFileSync(path.join(FOLDER, name), 'utf8') }).toEqual({ name, text });
  }
});

test.each(HAND_WRITTEN)('the handwritten %s has the fields of its message', (name) => {
  const text = readFileSync(path.join(__dirname, '../object/object.ts'), 'utf8');
  const body = new RegExp(`export interface ${name} \\{\\n([^}]*)\\}`, 'u').exec(text)?.[1] ?? '';
  const fields = [...body.matchAll(/^ {2}readonly (\w+)\??:/gmu)].map(([, field]) => field);
  const expected = messageType(`meta/v1.${name}`).fields.map((field) => field.name);
  expect(new Set(fields)).toEqual(new Set(expected));
});
