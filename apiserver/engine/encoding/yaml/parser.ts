import { Cursor, YamlError } from './cursor';
import type { Token, TokenKind } from './scanner';
import { Scanner } from './scanner';

export interface ScalarNode {
  readonly kind: 'scalar';
  readonly text: string;
  /** In its long form, `!foo` or `tag:yaml.org,2002:int`; empty where there is none. */
  readonly tag: string;
  /** Its type depends on its text: it has no quotes, or the tag `!`. */
  readonly isPlain: boolean;
}

export interface ListNode {
  readonly kind: 'list';
  readonly items: YamlNode[];
}

export interface MapNode {
  readonly kind: 'map';
  readonly entries: { readonly key: YamlNode; readonly value: YamlNode }[];
}

export interface AliasNode {
  readonly kind: 'alias';
  readonly name: string;
  readonly target: YamlNode;
}

export type YamlNode = ScalarNode | ListNode | MapNode | AliasNode;

/** Prefix of the tags of YAML's own types. */
export const TAG_PREFIX = 'tag:yaml.org,2002:';
const DEFAULT_HANDLES: readonly (readonly [string, string])[] = [
  ['!', '!'],
  ['!!', TAG_PREFIX],
];
/** Tokens that follow a node that is not written. */
const DIRECTIVES: ReadonlySet<TokenKind> = new Set(['version directive', 'tag directive']);
const DOCUMENT_BOUNDS: ReadonlySet<TokenKind> = new Set([
  ...DIRECTIVES,
  'document start',
  'document end',
  'stream end',
]);
const LIST_PARTS: ReadonlySet<TokenKind> = new Set(['- ', 'block end']);
const MAP_PARTS: ReadonlySet<TokenKind> = new Set(['key', 'value', 'block end']);
const FLAT_LIST_PARTS: ReadonlySet<TokenKind> = new Set(['- ', ...MAP_PARTS]);
const FLOW_PARTS: ReadonlySet<TokenKind> = new Set(['value', ',', ']', '}']);
const EMPTY: ScalarNode = { kind: 'scalar', text: '', tag: '', isPlain: true };

/**
 * Parses the first document of a text of YAML 1.1. Returns undefined for a text without documents. Throws YamlError for a
 * syntax error and for nesting beyond `depthMax`. Later documents may only be empty; upstream drops them silently.
 */
export function parseDocument(text: string, depthMax: number): YamlNode | undefined {
  return new Parser(new Scanner(new Cursor(text)), depthMax).document();
}

type Context = 'block' | 'flow';

/** A recursive parser of the grammar of libyaml. */
class Parser {
  readonly #scanner: Scanner;
  readonly #depthMax: number;
  #depth = 0;
  #handles = new Map<string, string>();
  readonly #anchors = new Map<string, YamlNode>();

  constructor(scanner: Scanner, depthMax: number) {
    this.#scanner = scanner;
    this.#depthMax = depthMax;
  }

  document(): YamlNode | undefined {
    const first = this.#document({ isFirst: true });
    while (!this.#isAt('stream end')) {
      if (this.#takeIf('document end')) continue;
      const other = this.#document({ isFirst: false });
      if (other !== undefined && (other.kind !== 'scalar' || !isNull(other)))
        throw new YamlError('expected a single document in the stream, but found more');
    }
    return first;
  }

  #document({ isFirst }: { readonly isFirst: boolean }): YamlNode | undefined {
    if (this.#isAt('stream end')) return undefined;
    const hasDirectives = this.#directives();
    this.#anchors.clear();
    if (!this.#takeIf('document start')) {
      if (hasDirectives || !isFirst) throw this.#unexpected('did not find expected <document start>');
      const node = this.#node('block');
      this.#takeIf('document end');
      return node;
    }
    const isEmpty = this.#isAtAny(DOCUMENT_BOUNDS);
    const node = isEmpty ? EMPTY : this.#node('block');
    this.#takeIf('document end');
    return node;
  }

  /** Returns whether there are any. */
  #directives(): boolean {
    this.#handles = new Map();
    let hasVersion = false;
    while (this.#isAtAny(DIRECTIVES)) {
      const { kind, text, suffix } = this.#scanner.peek();
      if (kind === 'version directive') {
        if (hasVersion) throw this.#unexpected('found duplicate %YAML directive');
        if (!/^0?1\.0?1$/.test(text)) throw this.#unexpected('found incompatible YAML document');
        hasVersion = true;
      } else {
        if (this.#handles.has(text)) throw this.#unexpected('found duplicate %TAG directive');
        this.#handles.set(text, suffix);
      }
      this.#scanner.take();
    }
    const hasDirectives = hasVersion || this.#handles.size > 0;
    for (const [handle, prefix] of DEFAULT_HANDLES) {
      if (!this.#handles.has(handle)) this.#handles.set(handle, prefix);
    }
    return hasDirectives;
  }

  #isAt(kind: TokenKind): boolean {
    return this.#scanner.peek().kind === kind;
  }

  #isAtAny(kinds: ReadonlySet<TokenKind>): boolean {
    return kinds.has(this.#scanner.peek().kind);
  }

  #takeIf(kind: TokenKind): boolean {
    if (this.#scanner.peek().kind !== kind) return false;
    this.#scanner.take();
    return true;
  }

  #unexpected(problem: string): YamlError {
    return new YamlError(problem, this.#scanner.peek().line + 1);
  }

  /** In the value of a block map, a list needs no indentation of its own. */
  #node(context: Context, { allowsFlatList = false }: { readonly allowsFlatList?: boolean } = {}): YamlNode {
    if (this.#isAt('alias')) return this.#alias();
    let anchor: string | undefined;
    let tagToken: Token | undefined;
    for (;;) {
      const { kind } = this.#scanner.peek();
      if (kind === 'anchor' && anchor === undefined) anchor = this.#scanner.take().text;
      else if (kind === 'tag' && tagToken === undefined) tagToken = this.#scanner.take();
      else break;
    }
    const tag = tagToken === undefined ? '' : this.#tag(tagToken);
    return this.#content({ context, allowsFlatList, anchor, tag });
  }

  #alias(): AliasNode {
    const { text: name } = this.#scanner.take();
    const target = this.#anchors.get(name);
    if (target === undefined) throw new YamlError(`unknown anchor '${name}' referenced`);
    return { kind: 'alias', name, target };
  }

  #tag({ text: handle, suffix, line }: Token): string {
    if (handle === '') return suffix;
    const prefix = this.#handles.get(handle);
    if (prefix === undefined) throw new YamlError('found undefined tag handle', line + 1);
    return prefix + suffix;
  }

  #content(node: {
    readonly context: Context;
    readonly allowsFlatList: boolean;
    readonly anchor: string | undefined;
    readonly tag: string;
  }): YamlNode {
    const { context, anchor, tag } = node;
    const { kind, text, isPlain } = this.#scanner.peek();
    // A node has its anchor before its content is read, so that an alias in it is found and refused.
    const named = <N extends YamlNode>(each: N): N => {
      if (anchor !== undefined) this.#anchors.set(anchor, each);
      return each;
    };
    if (kind === 'scalar') {
      this.#scanner.take();
      return named({ kind: 'scalar', text, tag, isPlain: tag === '' ? isPlain : tag === '!' });
    }
    if (kind === '- ' && node.allowsFlatList) return this.#nested(() => this.#flatList(named(list())));
    if (kind === '[') return this.#nested(() => this.#flowList(named(list())));
    if (kind === '{') return this.#nested(() => this.#flowMap(named(map())));
    if (context === 'block' && kind === 'block list')
      return this.#nested(() => this.#blockList(named(list())));
    if (context === 'block' && kind === 'block map') return this.#nested(() => this.#blockMap(named(map())));
    if (anchor === undefined && tag === '') throw this.#unexpected('did not find expected node content');
    return named({ kind: 'scalar', text: '', tag, isPlain: tag === '' });
  }

  #nested<N>(read: () => N): N {
    if (this.#depth === this.#depthMax)
      throw this.#unexpected(`exceeded max depth of ${String(this.#depthMax)}`);
    this.#depth += 1;
    const node = read();
    this.#depth -= 1;
    return node;
  }

  #blockList(node: ListNode): ListNode {
    this.#scanner.take();
    while (this.#takeIf('- ')) node.items.push(this.#isAtAny(LIST_PARTS) ? EMPTY : this.#node('block'));
    if (!this.#takeIf('block end')) throw this.#unexpected("did not find expected '-' indicator");
    return node;
  }

  #flatList(node: ListNode): ListNode {
    while (this.#takeIf('- ')) {
      const isEmpty = this.#isAtAny(FLAT_LIST_PARTS);
      node.items.push(isEmpty ? EMPTY : this.#node('block'));
    }
    return node;
  }

  #blockMap(node: MapNode): MapNode {
    this.#scanner.take();
    while (this.#takeIf('key')) {
      const key = this.#blockPart();
      node.entries.push({ key, value: this.#takeIf('value') ? this.#blockPart() : EMPTY });
    }
    if (!this.#takeIf('block end')) throw this.#unexpected('did not find expected key');
    return node;
  }

  #blockPart(): YamlNode {
    return this.#isAtAny(MAP_PARTS) ? EMPTY : this.#node('block', { allowsFlatList: true });
  }

  #flowList(node: ListNode): ListNode {
    this.#scanner.take();
    while (!this.#isAt(']')) {
      if (node.items.length > 0) {
        if (!this.#takeIf(',')) throw this.#unexpected("did not find expected ',' or ']'");
        if (this.#isAt(']')) break;
      }
      node.items.push(this.#takeIf('key') ? this.#nested(() => this.#pair()) : this.#node('flow'));
    }
    this.#scanner.take();
    return node;
  }

  /** Reads a map of one entry in a flow list. */
  #pair(): MapNode {
    const key = this.#flowPart();
    const value = this.#takeIf('value') ? this.#flowPart() : EMPTY;
    return { kind: 'map', entries: [{ key, value }] };
  }

  #flowPart(): YamlNode {
    return this.#isAtAny(FLOW_PARTS) ? EMPTY : this.#node('flow');
  }

  #flowMap(node: MapNode): MapNode {
    this.#scanner.take();
    while (!this.#isAt('}')) {
      if (node.entries.length > 0) {
        if (!this.#takeIf(',')) throw this.#unexpected("did not find expected ',' or '}'");
        if (this.#isAt('}')) break;
      }
      if (this.#takeIf('key')) {
        const key = this.#flowPart();
        node.entries.push({ key, value: this.#takeIf('value') ? this.#flowPart() : EMPTY });
      } else node.entries.push({ key: this.#node('flow'), value: EMPTY });
    }
    this.#scanner.take();
    return node;
  }
}

function list(): ListNode {
  return { kind: 'list', items: [] };
}

function map(): MapNode {
  return { kind: 'map', entries: [] };
}

function isNull({ text, tag, isPlain }: ScalarNode): boolean {
  return tag === '' && isPlain && (text === '' || text === '~' || text === 'null');
}
