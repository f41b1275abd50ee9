import type { Document } from 'yaml';
import { isMap, isNode, isScalar, isSeq, LineCounter, parseAllDocuments, visit } from 'yaml';
import { resolveScalar } from '../../apiserver/engine/encoding/yaml/resolve';
import { isJsonObject } from '../../shared/object/clone';

/** An object of a manifest. */
export interface ManifestObject {
  readonly object: Readonly<Record<string, unknown>>;
  /** Returns the line, from 1, of a field such as `spec.ports[0].name`, or of the part of its path that the manifest has. */
  readonly lineOf: (field: string) => number;
}

/** What is wrong with the text itself. */
export interface TextProblem {
  readonly line: number;
  readonly message: string;
}

export interface Manifest {
  readonly objects: readonly ManifestObject[];
  readonly problems: readonly TextProblem[];
}

/** How deep lists of objects may be nested; manifests have lists of lists at most. */
const LIST_DEPTH_MAX = 8;
/** How many nodes the aliases of a document may expand to, so that a small file does not become a large object. */
const ALIASES_MAX = 100;

/** Reads the objects of a YAML stream or JSON text; lists of objects are taken apart. */
export function readManifest(text: string): Manifest {
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter: lines, keepSourceTokens: false });
  const objects: ManifestObject[] = [];
  const problems: TextProblem[] = [];
  if ('empty' in documents) return { objects, problems };
  const lineAt = (offset: number): number => lines.linePos(offset).line;
  for (const document of documents) {
    for (const { message, pos } of document.errors)
      problems.push({ line: lineAt(pos[0]), message: message.split('\n')[0] ?? message });
    if (document.errors.length > 0) continue;
    const report = (node: unknown, message: string): void => {
      problems.push({ line: lineAt(offsetOf(node) ?? 0), message });
    };
    resolveAsServer(document);
    try {
      collect(document, document.contents, { objects, report, lineAt, depth: 0 });
    } catch (error) {
      // Aliases that expand to too much.
      report(document.contents, error instanceof Error ? error.message : String(error));
    }
  }
  return { objects, problems };
}

/** Gives plain scalars the values that a server reads (YAML 1.1): `0644` is octal and `yes` a boolean. */
function resolveAsServer(document: Document): void {
  visit(document, {
    Scalar: (_, scalar) => {
      if (scalar.type !== 'PLAIN' || scalar.tag !== undefined || scalar.source === undefined) return;
      const { value } = resolveScalar({ kind: 'scalar', text: scalar.source, tag: '', isPlain: true });
      scalar.value = typeof value === 'bigint' ? Number(value) : value;
    },
  });
}

interface Collecting {
  readonly objects: ManifestObject[];
  readonly report: (node: unknown, message: string) => void;
  readonly lineAt: (offset: number) => number;
  readonly depth: number;
}

function collect(document: Document, node: unknown, collecting: Collecting): void {
  const { objects, report, lineAt, depth } = collecting;
  const object: unknown = isNode(node) ? node.toJS(document, { maxAliasCount: ALIASES_MAX }) : node;
  // An empty document between two separators.
  if (object === null || object === undefined) return;
  if (!isJsonObject(object)) return report(node, 'this is no object');
  const { apiVersion, kind, items } = object;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string')
    return report(node, 'an object needs apiVersion and kind');
  if (!kind.endsWith('List') || !Array.isArray(items)) {
    objects.push({ object, lineOf: (field) => lineAt(offsetAt(node, field)) });
    return undefined;
  }
  if (depth >= LIST_DEPTH_MAX) return report(node, 'lists are nested too deeply');
  const list = isMap(node) ? node.get('items', true) : undefined;
  for (const item of isSeq(list) ? list.items : [])
    collect(document, item, { ...collecting, depth: depth + 1 });
  return undefined;
}

/** A name, or what is in brackets: an index or a key. */
const STEP = /^\.?([^.[\]]+)|^\[([^\]]*)\]/u;

/** Returns where a field is written, or the deepest part of its path. */
function offsetAt(root: unknown, field: string): number {
  let node = root;
  let offset = offsetOf(root) ?? 0;
  for (let rest = field; rest !== '';) {
    const step = STEP.exec(rest);
    const found = step === null ? undefined : partOf(node, step[1] ?? step[2] ?? '', rest);
    if (found === undefined) return offset;
    offset = found.offset ?? offset;
    ({ node } = found);
    rest = rest.slice(found.length);
  }
  return offset;
}

interface Part {
  readonly node: unknown;
  readonly offset: number | undefined;
  /** The characters of the path that the part takes. */
  readonly length: number;
}

/** Finds a part by its name. A name of a map may have dots: then it is the longest one that the path begins with. */
function partOf(node: unknown, name: string, rest: string): Part | undefined {
  if (isSeq(node)) {
    const item = node.items[Number(name)];
    return item === undefined ? undefined : { node: item, offset: offsetOf(item), length: name.length + 2 };
  }
  if (!isMap(node)) return undefined;
  const isQuoted = rest.startsWith('[');
  const text = rest.startsWith('.') ? rest.slice(1) : rest;
  let best: Part | undefined;
  for (const { key, value } of node.items) {
    const written = isScalar(key) ? String(key.value) : undefined;
    if (written === undefined || written === '') continue;
    const fits = isQuoted
      ? written === name
      : text === written || text.startsWith(`${written}.`) || text.startsWith(`${written}[`);
    const length = isQuoted ? name.length + 2 : rest.length - text.length + written.length;
    if (fits && length > (best?.length ?? 0)) best = { node: value, offset: offsetOf(key), length };
  }
  return best;
}

function offsetOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}
