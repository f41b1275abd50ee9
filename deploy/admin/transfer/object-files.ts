import {
  closeSync,
  createReadStream,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
} from 'node:fs';
import path from 'node:path';
import { parseAllDocuments } from 'yaml';
import { splitLines } from '../../../shared/client/lines';
import { isJsonObject } from '../../../shared/object/clone';
import { stringifyExact } from '../../../shared/object/exact-text';
import type { ReadonlyJson } from '../../../shared/object/json';
import { fields } from '../../../shared/object/json';
import type { ApiList } from '../../../shared/client/options';
import { decodeJson } from '../../../shared/schema/decode';

/**
 * The file of an export is the list that `kubectl get -o json` prints, with one object on each line. It is therefore read and written line
 * by line, and is a manifest for kubectl all the same.
 */
export const FILE_BEGIN = '{"apiVersion":"v1","kind":"List","items":[\n';
export const FILE_SEPARATOR = ',\n';
export const FILE_END = '\n]}\n';

const MANIFEST = /\.(?:ya?ml|json)$/u;
/** Above the largest stored object, as for an event of a watch. */
const LINE_BYTES_MAX = 16 * 1024 * 1024;
const COMMA = 0x2c;
const BRACE = 0x7b;

/** Parses the documents of a YAML text to JSON values. */
export type ParseYaml = (text: string) => readonly unknown[];

/** Parses as orch-convert does. Times stay text, and long integers keep all digits. */
export const parseYamlDocuments: ParseYaml = (text) =>
  parseAllDocuments(text, { intAsBigInt: true }).map((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw error;
    return document.toJS() as unknown;
  });

/**
 * Reads the objects of a file, or of the manifests (`.yaml`, `.yml`, `.json`) of a folder and its subfolders in the order of their names,
 * each as JSON text. Lists are replaced by their items. The file of an export is streamed; others are read whole, one at a time. Throws an
 * Error that names the file.
 */
export async function* readObjects(
  file: string,
  parseYaml: ParseYaml = parseYamlDocuments,
): AsyncGenerator<Buffer> {
  for (const each of listManifests(file)) {
    try {
      if (isExport(each)) yield* readExport(each);
      else yield* readWhole(each, parseYaml);
    } catch (error) {
      throw new Error(`${each}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
  }
}

function listManifests(file: string): readonly string[] {
  if (!statSync(file).isDirectory()) return [file];
  return readdirSync(file, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && MANIFEST.test(entry.name))
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort();
}

function isExport(file: string): boolean {
  const begin = Buffer.from(FILE_BEGIN);
  // A pipe can be read once only, so it is read whole.
  if (!statSync(file).isFile()) return false;
  const stream = readFileBeginning(file, begin.length);
  return stream.equals(begin);
}

function readFileBeginning(file: string, bytes: number): Buffer {
  const handle = openSync(file, 'r');
  try {
    const buffer = Buffer.alloc(bytes);
    return buffer.subarray(0, readSync(handle, buffer, 0, bytes, 0));
  } finally {
    closeSync(handle);
  }
}

async function* readExport(file: string): AsyncGenerator<Buffer> {
  for await (const line of splitLines(createReadStream(file), LINE_BYTES_MAX)) {
    if (line.equals(LIST_LINE) || line[0] !== BRACE) continue;
    yield line.at(-1) === COMMA ? line.subarray(0, -1) : line;
  }
}

const LIST_LINE = Buffer.from(FILE_BEGIN.trimEnd());

function* readWhole(file: string, parseYaml: ParseYaml): Generator<Buffer> {
  const bytes = readFileSync(file);
  const text = bytes.toString('utf8');
  const documents = text.trimStart().startsWith('{') ? [decodeJson(bytes)] : parseYaml(text);
  for (const document of documents) {
    if (document === null || document === undefined) continue;
    if (!isJsonObject(document)) throw new Error('a document is no object of the API');
    for (const object of itemsOf(document)) yield Buffer.from(stringifyExact(object));
  }
}

/** The items of typed lists lack kind and apiVersion. */
function itemsOf(document: ReadonlyJson): readonly ReadonlyJson[] {
  const { kind, apiVersion, items } = fields<ApiList>(document);
  if (typeof kind !== 'string' || !kind.endsWith('List') || !Array.isArray(items)) return [document];
  const objects = items.filter(isJsonObject);
  if (kind === 'List') return objects.flatMap(itemsOf);
  return objects.map((item) => ({ apiVersion, kind: kind.replace(/List$/u, ''), ...item }));
}
