/**
 * Returns the paths of duplicate keys in a JSON document, without the first occurrence of each, at most `max`.
 * The document must be valid; JSON.parse keeps the last occurrence.
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
      // An empty key must not make its value the next key.
      if (top.segment === '') top.segment = '""';
    }
  }
  return paths;
}

/** Matches brackets, commas and strings, which suffice to find keys. */
const TOKEN = /([[\]{},]|"(?:[^"\\]|\\.)*")/g;

interface Level {
  /** Keys of an object; undefined in a list. */
  readonly keys: Set<string> | undefined;
  /** The key of the current value; empty before a key. */
  segment: string;
  index: number;
}

function pathOf(open: readonly Level[]): string {
  let path = '';
  for (const { keys, segment, index } of open) {
    path = joinPath(path, keys === undefined ? `[${String(index)}]` : segment);
  }
  return path;
}

/** Longer paths are cut: one key may have 3 MB and hold a hundred duplicates. */
const PATH_CHARS_MAX = 1_024;

/** Appends a key, or the index of a list in brackets, to the path of a field. A long path ends with an ellipsis. */
export function joinPath(path: string, part: string): string {
  if (path.length > PATH_CHARS_MAX) return path;
  const short = part.slice(0, PATH_CHARS_MAX);
  const joined = path === '' || short.startsWith('[') ? path + short : `${path}.${short}`;
  const isWhole = short.length === part.length && joined.length <= PATH_CHARS_MAX;
  return isWhole ? joined : `${joined.slice(0, PATH_CHARS_MAX)}…`;
}
