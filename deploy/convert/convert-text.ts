import type { Document } from 'yaml';
import { isNode, LineCounter, parseAllDocuments } from 'yaml';
import type { GroupVersion } from '../../shared/object/object';
import { isJsonObject } from '../../shared/object/clone';
import { suggestion } from '../../shared/flags/suggestion';
import { RESOURCES } from '../../shared/api/resources';
import { apiVersionOf } from '../../shared/object/object';
import type { Change, FieldPath } from './changes';
import { conversionChanges, missingDefaults, rowOf, targetOf } from './convert-object';

export type ConvertedText =
  | { readonly ok: true; readonly text: string }
  /** Each as `line: what is wrong`. */
  | { readonly ok: false; readonly errors: readonly string[] };

/** No manifest has lists deeper than lists of lists. */
const LIST_DEPTH_MAX = 8;

/**
 * Converts every object of a YAML stream or JSON text. Only fields that differ between the versions are rewritten: comments, order and style
 * of the rest stay. All errors are reported at once.
 */
export function convertText(text: string, wanted: GroupVersion | undefined): ConvertedText {
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter: lines, keepSourceTokens: false });
  if ('empty' in documents) return { ok: true, text };
  const errors: string[] = [];
  for (const document of documents) {
    for (const { message, pos } of document.errors) {
      errors.push(`${String(lines.linePos(pos[0]).line)}: ${message.split('\n')[0] ?? message}`);
    }
    if (document.errors.length > 0) continue;
    const say = (path: FieldPath, problem: string): void => {
      errors.push(`${String(lineOf(document, path, lines))}: ${problem}`);
    };
    convertAt(document, [], { wanted, say });
  }
  if (errors.length > 0) return { ok: false, errors };
  if (isJson(text)) {
    return { ok: true, text: `${JSON.stringify(documents[0]?.toJS() as unknown, null, 2)}\n` };
  }
  return { ok: true, text: documents.map((document) => document.toString({ lineWidth: 0 })).join('') };
}

interface Conversion {
  readonly wanted: GroupVersion | undefined;
  readonly say: (path: FieldPath, problem: string) => void;
}

function convertAt(document: Document, path: FieldPath, conversion: Conversion): void {
  const object = valueAt(document, path);
  // An empty document between two separators.
  if (object === null || object === undefined) return;
  if (!isJsonObject(object)) {
    conversion.say(path, 'this is no object');
    return;
  }
  const { apiVersion, kind, items } = object;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') {
    conversion.say(path, 'an object needs apiVersion and kind');
    return;
  }
  if (kind.endsWith('List') && Array.isArray(items)) {
    if (path.length / 2 >= LIST_DEPTH_MAX) {
      conversion.say(path, 'lists are nested too deeply');
      return;
    }
    for (const index of items.keys()) convertAt(document, [...path, 'items', index], conversion);
    return;
  }
  convertObject(document, path, { ...conversion, apiVersion, kind, object });
}

interface ObjectConversion extends Conversion {
  readonly apiVersion: string;
  readonly kind: string;
  readonly object: object;
}

function convertObject(document: Document, path: FieldPath, options: ObjectConversion): void {
  const { apiVersion, kind, object, wanted, say } = options;
  const from = rowOf(apiVersion, kind);
  if (from === undefined) {
    // Custom resources, and versions that are no longer there.
    const others = RESOURCES.filter((row) => row.kind === kind).map(apiVersionOf);
    const hint = others.length > 0 ? `; it is in ${others.join(', ')}` : suggestion(kind, kindNames());
    say(path, `${kind} is not in ${apiVersion}${hint}`);
    return;
  }
  const to = targetOf(from, wanted);
  if (to === from) return;
  // Manifests have no status, but every object has one.
  const apply = (changes: readonly Change[]): void => {
    for (const change of changes) {
      if (change.path[0] === 'status' && !Object.hasOwn(object, 'status')) continue;
      write(document, [...path, ...change.path], change.value);
    }
  };
  try {
    apply(conversionChanges(object, from, to));
    apply(missingDefaults({ manifest: valueAt(document, path), original: object }, from, to));
  } catch (error) {
    say(path, `${kind} cannot be converted: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function kindNames(): readonly string[] {
  return [...new Set(RESOURCES.map(({ kind }) => kind))];
}

function write(document: Document, path: FieldPath, value: unknown): void {
  if (value !== undefined) document.setIn(path, document.createNode(value));
  else if (document.hasIn(path)) document.deleteIn(path);
}

function valueAt(document: Document, path: FieldPath): unknown {
  const node: unknown = path.length === 0 ? document.contents : document.getIn(path, true);
  return isNode(node) ? (node.toJS(document) as unknown) : node;
}

function lineOf(document: Document, path: FieldPath, lines: LineCounter): number {
  const node: unknown = path.length === 0 ? document.contents : document.getIn(path, true);
  const range = isNode(node) ? node.range : document.range;
  return lines.linePos(range?.[0] ?? 0).line;
}

function isJson(text: string): boolean {
  if (!text.trimStart().startsWith('{')) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
