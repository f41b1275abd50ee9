/**
 * The paths of the keys that stand twice in one object of a JSON document, each time but the first, `max` at most. The document must be
 * valid: JSON.parse has read it and kept the last of each.
 */
export function repeatedKeys(json: string, max: number): readonly string[] {
  const paths: string[] = [];
  const open: Level[] = [];
  for (const [, token = ''] of json.matchAll(TOKEN)) {
    const top = open.at(-1);
    if (token === '{' || token === '[') {
      open.push({ keys: token === '{' ? new Set() : undefined, segment: '', index: 0 });
    } else if (token === '}' || token === ']') open.pop();
    else if (token === ',' && top !== undefined) {
      top.segment = '';
      top.index += 1;
    } else if (top?.keys !== undefined && top.segment === '' && token.startsWith('"')) {
      top.segment = JSON.parse(token) as string;
      if (top.keys.has(top.segment) && paths.length < max) paths.push(pathOf(open));
      top.keys.add(top.segment);
      // A key of no characters must not make its value the next key.
      if (top.segment === '') top.segment = '""';
    }
  }
  return paths;
}

/** Brackets, commas and strings; everything else says nothing about keys. */
const TOKEN = /([[\]{},]|"(?:[^"\\]|\\.)*")/g;

interface Level {
  /** Undefined in a list. */
  readonly keys: Set<string> | undefined;
  /** The key whose value is being read; empty before a key. */
  segment: string;
  index: number;
}

function pathOf(open: readonly Level[]): string {
  let path = '';
  for (const { keys, segment, index } of open) {
    if (keys === undefined) path += `[${String(index)}]`;
    else path += path === '' ? segment : `.${segment}`;
  }
  return path;
}
