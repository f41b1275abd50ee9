import { MEDIA_TYPE } from '../../../shared/names';
import { encodeObject } from '../../../shared/schema/encode';
import { decodeObject } from '../../../shared/schema/decode';
import type { ApiObject } from '../../../shared/object/object';
import { notFound } from '../../../shared/errors/status-error';
import { negotiatePatch } from '../encoding/negotiation';
import type { Source } from '../encoding/source';
import { writtenSource } from '../encoding/written';
import type { Answer, Exchange } from '../request/exchange';
import { keepStoredWithin, keepValuesWithin } from '../request/loop-bounds';
import { converting } from '../registry/conversion-needed';
import type { ReadPlan } from '../registry/list-plan';
import { planGet } from '../registry/list-plan';
import { readObject } from '../registry/read';
import type { Endpoint } from '../registry/resource';
import { refuseImpossiblePlace } from '../request/store-place';
import { asDefined, currentOfEntry } from '../registry/stored-form';
import type { ObjectView } from '../registry/object-view';
import { applyThroughView, shownEndpoint, updateThroughView } from '../registry/object-view';
import type { Change } from '../registry/write-attempt';
import type { Written } from '../registry/write';
import type { ObjectAnswers } from './answers';
import { objectAnswers } from './answers';
import { patchMediaTypes, readApply } from './apply';
import { readBodyObject } from './body';
import type { VerbContext } from './context';
import { readPatch } from './patch';
import { refuseOther } from './place';
import { patchOptions, writeOptions } from './query';
import type { Target, Verb } from './target';
import { writeRequestOf } from './target';

/**
 * A target whose subresource is a view of the object. `shown` is the same target with the kind of the view.
 */
interface Viewed {
  readonly target: Target;
  readonly shown: Target;
  readonly view: ObjectView;
}

/** A view whose response format is negotiated. */
interface Answered extends Viewed {
  readonly answers: ObjectAnswers;
}

type Resource = Parameters<typeof notFound>[0];

const VERBS: Readonly<
  Record<string, (context: VerbContext, exchange: Exchange, viewed: Viewed) => Promise<Answer>>
> = { get, update, patch };

/** The verb for a subresource that is a view of the object; undefined for any other target. */
export function viewVerb(target: Target, verb: string): Verb | undefined {
  const { endpoint, subresource } = target;
  const special = endpoint.specialSubresources?.[subresource];
  const row = endpoint.subresources.get(subresource);
  const run = VERBS[verb];
  if (special?.is !== 'view' || row === undefined || run === undefined) return undefined;
  const shown = { ...target, endpoint: shownEndpoint(endpoint, row) };
  return async (context, exchange) => run(context, exchange, { target, shown, view: special.view });
}

function answersOf(exchange: Exchange, { shown, target }: Viewed): ObjectAnswers {
  return objectAnswers(exchange, shown, target);
}

async function get(context: VerbContext, exchange: Exchange, viewed: Viewed): Promise<Answer> {
  const { target, shown, view } = viewed;
  const answers = answersOf(exchange, viewed);
  const { endpoint, name, subresource } = target;
  const missing = missingOf(endpoint, view, subresource);
  const plan = planOf(exchange, target, missing);
  refuseImpossiblePlace(target);
  const entry = await readObject(context.store, target, plan, exchange.signal);
  if (entry === undefined) throw notFound(missing, name);
  keepStoredWithin(exchange.bounds, entry.bytes.length);
  const { stored } = endpoint;
  const { object } = await converting(
    () => asDefined(stored, currentOfEntry(stored, entry)),
    exchange.signal,
  );
  keepValuesWithin(exchange.bounds, object, entry.bytes.length);
  const scale = view.show(object);
  const hidden = view.whyHidden?.(scale);
  if (hidden !== undefined) throw hidden;
  return answers.object(sourceOf(shown.endpoint, scale));
}

/**
 * Upstream reports every failure of a read as NotFound for views that name their own resource; here this
 * concerns a malformed resourceVersion only.
 */
function planOf({ query }: Exchange, { endpoint, name }: Target, missing: Resource): ReadPlan {
  try {
    return planGet(query.get('resourceVersion') ?? '');
  } catch (error) {
    throw missing.resource === endpoint.row.resource ? error : notFound(missing, name);
  }
}

async function update(context: VerbContext, exchange: Exchange, viewed: Viewed): Promise<Answer> {
  const answers = answersOf(exchange, viewed);
  const dryRun = writeOptions(exchange.query, 'UpdateOptions');
  const object = await readBodyObject(exchange, viewed.shown.endpoint);
  // The view is validated as it was sent: a Scale must have its namespace.
  refuseOther(object, viewed.shown);
  return write(context, exchange, { ...viewed, answers }, { change: () => object, dryRun });
}

async function patch(context: VerbContext, exchange: Exchange, viewed: Viewed): Promise<Answer> {
  const { target, shown, view } = viewed;
  const canApply = context.store.serverSideApply && view.canApply === true;
  // A strategic merge needs the merge markers of the patched object, which a custom resource does not have.
  const supported = patchMediaTypes(target, canApply);
  const mediaType = negotiatePatch(exchange.headers['content-type'], supported);
  const answered = { ...viewed, answers: answersOf(exchange, viewed) };
  const isApply = mediaType === MEDIA_TYPE.applyPatch;
  const dryRun = patchOptions(exchange.query, isApply);
  if (isApply) return apply(context, exchange, answered, dryRun);
  const read = await readPatch(exchange, { ...shown, isShown: true }, mediaType);
  const change: Change = view.patchesKeepUid === true ? (live) => withUidOf(live, read(live)) : read;
  return write(context, exchange, answered, { change, dryRun });
}

function withUidOf(live: ApiObject | undefined, patched: ApiObject): ApiObject {
  const { uid = '' } = live?.metadata ?? {};
  return { ...patched, metadata: { ...patched.metadata, uid } };
}

async function apply(
  context: VerbContext,
  exchange: Exchange,
  viewed: Answered,
  dryRun: boolean,
): Promise<Answer> {
  const { target, shown, view } = viewed;
  const request = writeRequestOf(exchange, target, dryRun);
  const read = await readApply(exchange, shown).catch(async (error: unknown) => {
    // Upstream reads the configuration after the object, so NotFound comes first.
    const entry = await readObject(context.store, target, planGet(''), exchange.signal);
    throw entry === undefined ? notFound(target.endpoint.row, target.name) : error;
  });
  const applied = { view, shown: shown.endpoint, apply: read };
  const written = await applyThroughView(context.store, request, applied, exchange.signal);
  return writtenView(viewed, written);
}

async function write(
  context: VerbContext,
  exchange: Exchange,
  viewed: Answered,
  { change, dryRun }: { readonly change: Change; readonly dryRun: boolean },
): Promise<Answer> {
  const { target, shown, view } = viewed;
  const request = writeRequestOf(exchange, target, dryRun);
  const changed = { view, shown: shown.endpoint, change };
  const written = await updateThroughView(context.store, request, changed, exchange.signal);
  return writtenView(viewed, written);
}

async function writtenView({ shown, view, answers }: Answered, written: Written): Promise<Answer> {
  const { metadata } = written.object;
  const object = { ...written.object, metadata: { ...metadata, resourceVersion: String(written.revision) } };
  return answers.object(sourceOf(shown.endpoint, view.show(object)));
}

/** A source for an object that is not in the cache. */
export function sourceOf({ type, row, apiVersion }: Endpoint, object: ApiObject): Source {
  const { object: canonical } = decodeObject(type, { ...object, kind: row.kind, apiVersion });
  return writtenSource({ plain: encodeObject(canonical), revision: 0 });
}

function missingOf({ row, custom }: Endpoint, view: ObjectView, subresource: string): Resource {
  const { group, resource } = row;
  const { missing } = view;
  if (missing === 'object' || view.hasStrategy === true || custom !== undefined) return { group, resource };
  return { group: missing?.group ?? group, resource: `${resource}/${subresource}` };
}
