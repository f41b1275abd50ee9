import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { dialect } from '../names';
import { decodeObject } from '../schema/decode';
import { filledObject } from '../schema/testing/samples';
import { messageType } from '../schema/types';
import { encodeProtobuf } from './encode';
import { kindMessages } from './testing/kinds';

/**
 * Length and digest of one fully filled object of every kind. Stored objects and clients of other versions
 * depend on these bytes, so a change must be intended. ORCH_GOLDEN=write accepts the current output.
 */
const FILE = path.join(__dirname, 'testing', 'golden.json');

interface Golden {
  readonly bytes: number;
  readonly sha256: string;
}

function encoded(name: string): Golden {
  const type = messageType(name);
  const bytes = encodeProtobuf(type, decodeObject(type, filledObject(type)).object);
  return { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
}

const current = Object.fromEntries([...kindMessages()].sort().map((name) => [name, encoded(name)]));
if (process.env['ORCH_GOLDEN'] === 'write') writeFileSync(FILE, `${JSON.stringify(current, null, 2)}\n`);
const golden = JSON.parse(readFileSync(FILE, 'utf8')) as Readonly<Record<string, Golden>>;

test('the file was made in the default dialect', () => {
  expect(dialect).toBe('orch');
});

test('the file has no removed kind (ORCH_GOLDEN=write drops it)', () => {
  expect(Object.keys(golden).filter((name) => !(name in current))).toEqual([]);
});

test.each(kindMessages())('the encoding of %s is unchanged', (name) => {
  expect(changeOf(name)).toBeUndefined();
});

/** Describes the difference from the file and what to do about it. */
function changeOf(name: string): string | undefined {
  const [was, is] = [golden[name], current[name]];
  if (is !== undefined && is.sha256 === was?.sha256) return undefined;
  const change =
    was === undefined
      ? 'not yet in the file'
      : `written as other bytes (${String(is?.bytes)}, was ${String(was.bytes)})`;
  return `${change}; if that is intended, rewrite the file: ORCH_GOLDEN=write npx jest shared/protobuf/golden`;
}
