import type { State } from 'js-yaml';
import { loadAll } from 'js-yaml';
import { LOAD_OPTIONS } from './yaml';

/** Repeated keys beyond this are not named. */
const DUPLICATES_MAX = 100;

/** A node that is being read. */
interface Frame {
  readonly keys: Set<string>;
  /** The key whose value is being read; undefined in a list, or before the first key. */
  key: string | undefined;
  /** Values read so far that have no key: the items of a list. */
  items: number;
  /** Where it begins. */
  readonly start: number;
  /** It is an item of the list around it, and not the same node looked at in another way. */
  readonly isItem: boolean;
}

/**
 * The paths (`spec.ports[0].port`) of keys that stand twice in one map of a YAML document, which must be valid. Reads the document once
 * more: only for those who asked for it.
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

/** True when what stands before a node, inside the one around it, is a dash, a bracket or a comma. */
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
