import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Body } from '../client';
import { SAMPLE } from './sample-documents';

/** The objects of the sample server in memory; they survive its restarts. */
export class Flunders {
  readonly #objects = new Map<string, Body>();
  readonly #history: { readonly type: string; readonly object: Body }[] = [];
  readonly #watchers = new Set<Watcher>();

  create(namespace: string, { metadata, ...said }: Body): Body | undefined {
    const name = metadata?.name ?? '';
    if (this.#objects.has(key(namespace, name))) return undefined;
    return this.#changed('ADDED', {
      ...said,
      metadata: {
        ...metadata,
        name,
        namespace,
        uid: randomUUID(),
        creationTimestamp: '2021-04-08T00:00:00Z',
        resourceVersion: this.#nextVersion(),
      },
    });
  }

  find(namespace: string, name: string): Body | undefined {
    return this.#objects.get(key(namespace, name));
  }

  delete(namespace: string, name: string): Body | undefined {
    const found = this.find(namespace, name);
    if (found === undefined) return undefined;
    const metadata = { ...found.metadata, resourceVersion: this.#nextVersion() };
    return this.#changed('DELETED', { ...found, metadata });
  }

  /** The objects of one namespace, or of all. */
  list(namespace = ''): readonly Body[] {
    return [...this.#objects.values()].filter((each) => isIn(each, namespace));
  }

  get resourceVersion(): string {
    return String(this.#history.length);
  }

  /** Streams the changes after a version while the connection is open; without a version, the existing objects first. */
  watch(
    response: ServerResponse,
    { namespace, name, from }: { readonly namespace: string; readonly name: string; readonly from: string },
  ): void {
    const watcher = (type: string, object: Body): void => {
      if (!isIn(object, namespace) || (name !== '' && object.metadata?.name !== name)) return;
      response.write(`${JSON.stringify({ type, object })}\n`);
    };
    response.flushHeaders();
    if (from === '' || from === '0') for (const each of this.list()) watcher('ADDED', each);
    else for (const { type, object } of this.#history.slice(Number(from))) watcher(type, object);
    this.#watchers.add(watcher);
    response.on('close', () => this.#watchers.delete(watcher));
  }

  watchers(): number {
    return this.#watchers.size;
  }

  #nextVersion(): string {
    return String(this.#history.length + 1);
  }

  #changed(type: string, object: Body): Body {
    const { name = '', namespace = '' } = object.metadata ?? {};
    const typed = { apiVersion: SAMPLE.groupVersion, kind: SAMPLE.kind, ...object };
    if (type === 'DELETED') this.#objects.delete(key(namespace, name));
    else this.#objects.set(key(namespace, name), typed);
    this.#history.push({ type, object: typed });
    for (const watcher of this.#watchers) watcher(type, typed);
    return typed;
  }
}

type Watcher = (type: string, object: Body) => void;

function key(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

function isIn({ metadata }: Body, namespace: string): boolean {
  return namespace === '' || metadata?.namespace === namespace;
}
