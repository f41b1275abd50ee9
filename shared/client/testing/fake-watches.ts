import type { ServerResponse } from 'node:http';

import { badRequest } from '../../errors/status-error';
import type { ApiObject } from '../../object/object';
import { MEDIA_TYPE } from '../../names';
import type { FakeResource } from './fake-resources';
import { matcher } from './fake-selector';
import type { FakeEvent, FakeStore, Place } from './fake-store';
import { badVersion } from './fake-store';

/** A watch that is open. */
export interface Watch {
  readonly resource: FakeResource;
  readonly response: ServerResponse;
  readonly takes: (object: ApiObject) => boolean;
  readonly bookmarks: boolean;
  sentRevision: number;
  eventsLeft: number;
}

export interface WatchRequest {
  readonly response: ServerResponse;
  readonly place: Place;
  readonly query: URLSearchParams;
}

/** Answers a watch: everything after its version, and what comes later by `deliver`. */
export function openWatch(
  store: FakeStore,
  watches: Set<Watch>,
  { response, place, query }: WatchRequest,
): void {
  const from = query.get('resourceVersion') ?? '';
  if (!/^\d+$/.test(from)) throw badRequest(`invalid resource version ${JSON.stringify(from)}`);
  if (Number(from) < store.floor) throw badVersion(from);
  const selects = matcher(query);
  const watch: Watch = {
    resource: place.resource,
    response,
    bookmarks: query.get('allowWatchBookmarks') === 'true',
    takes: (object) =>
      selects(object) && (place.namespace === '' || place.namespace === object.metadata.namespace),
    sentRevision: Number(from),
    eventsLeft: Infinity,
  };
  response.writeHead(200, { 'content-type': MEDIA_TYPE.json }).flushHeaders();
  watches.add(watch);
  const timer = setTimeout(() => response.end(), Number(query.get('timeoutSeconds') ?? 60) * 1000);
  response.on('close', () => {
    clearTimeout(timer);
    watches.delete(watch);
  });
  deliver(store, watch);
}

/** Sends all pending events to the watch. */
export function deliver(store: FakeStore, watch: Watch): void {
  const start = store.events.findIndex((event) => event.revision > watch.sentRevision);
  if (start === -1) return;
  for (const event of store.events.slice(start)) {
    watch.sentRevision = event.revision;
    if (event.resource === watch.resource) deliverEvent(watch, event);
  }
}

function deliverEvent(watch: Watch, { revision, before, after }: FakeEvent): void {
  const was = before !== undefined && watch.takes(before);
  const is = after !== undefined && watch.takes(after);
  if (is) send(watch, was ? 'MODIFIED' : 'ADDED', after);
  else if (was) {
    send(watch, 'DELETED', {
      ...before,
      metadata: { ...before.metadata, resourceVersion: String(revision) },
    });
  }
}

export function send(watch: Watch, type: string, object: unknown): void {
  if (watch.response.writableEnded || watch.eventsLeft <= 0) return;
  watch.response.write(`${JSON.stringify({ type, object })}\n`);
  watch.eventsLeft -= 1;
  if (watch.eventsLeft === 0) watch.response.end();
}
