import type { State } from 'js-yaml';
import { loadAll } from 'js-yaml';
import { LOAD_OPTIONS } from './yaml';

/** Limit of reported keys. */
const DUPLICATES_MAX = 100;

/** A YAML node that is being read. */
interface Frame {
  readonly keys: Set<string>;
  /** The key whose value is being read; undefined in a list, or before the first key. */
  key: string | undefined;
  /** Values read so far without a key: the items of a list. */
  items: number;
  /** Position of its first character. */
  readonly start: number;
  /** It is a list item, and not another view of the same node. */
  readonly isItem: boolean;
}

/**
 * Returns the paths (`spec.ports[0].port`) of duplicate keys in a valid YAML document. Parses the document again;
 * only strict field validation calls it.
 */
export function duplicateYamlKeys(text: string): readonly string[] {
  const open: Frame[] = [];
  const duplicates: string[] = [];
  loadAll(text, null, {
    ...LOAD_OPTIONS,
    listener: (event, state) => {
      if (event === 'open') {
        const start = state.position;
        const isItem = isListItem(state.input, open.at(-1)?.start ?? 0, start);
        open.push({ keys: new Set(), key: undefined, items: 0, start, isItem });
        return;
      }
      open.pop();
      const parent = open.at(-1);
      if (parent === undefined) return;
      if (!isKey(state)) {
        if (parent.key === undefined) parent.items += 1;
        return;
      }
      parent.key = String(state.result);
      if (parent.keys.has(parent.key) && duplicates.length < DUPLICATES_MAX) duplicates.push(pathOf(open));
      parent.keys.add(parent.key);
    },
  });
  return duplicates;
}

/** Only a key is followed by a colon. */
function isKey({ kind, input, position }: State): boolean {
  return kind === 'scalar' && COLON.test(input.slice(position, position + COLON_CHARS_MAX));
}

/** Returns whether a dash, bracket or comma precedes a node inside its parent. */
function isListItem(input: string, from: number, start: number): boolean {
  let at = start - 1;
  while (at >= from && /\s/.test(input.charAt(at))) at -= 1;
  return at >= from && '-[,'.includes(input.charAt(at));
}

const COLON = /^[ \t]*:/;
const COLON_CHARS_MAX = 64;

function pathOf(open: readonly Frame[]): string {
  let path = '';
  for (const [at, { key, items }] of open.entries()) {
    if (key !== undefined) path += path === '' ? key : `.${key}`;
    else if (open[at + 1]?.isItem === true) path += `[${String(items)}]`;
  }
  return path;
}
