import { AUDIT_ANNOTATION } from '../../../shared/names';
import { StatusError, badRequest, methodNotSupported } from '../../../shared/errors/status-error';
import type { Answer, Exchange } from '../request/exchange';
import { refuseUnrouted } from '../encoding/routing';
import { DefinitionChangedError } from '../registry/custom-errors';
import type { Endpoint } from '../registry/resource';
import { pageNotFound } from './answers';
import { patchMediaTypes } from './apply';
import { connect, connectionAt } from './connect';
import type { VerbContext } from './context';
import { create } from './create';
import { hasPlace, findTarget, isListedOnly, methodNotAllowed, unknownBelow } from './target';
import { remove } from './delete';
import { removeCollection } from './delete-collection';
import { get } from './get';
import { list } from './list';
import { operationVerb } from './operation';
import { patch } from './patch';
import type { RequestFeatures } from './request-features';
import { refuseDryRun } from './request-features';
import { update } from './update';
import { viewVerb } from './view';
import type { Target, Verb } from './target';
import { watch } from './watch';

const VERBS: ReadonlyMap<string, Verb> = new Map([
  ['get', get],
  ['list', list],
  ['watch', watch],
  ['create', create],
  ['update', update],
  ['patch', patch],
  ['delete', remove],
  ['deletecollection', removeCollection],
]);

/**
 * Handles a request for a resource. Unknown paths in built-in groups get a Status, all others a plain 404.
 */
export async function answerResource(context: VerbContext, exchange: Exchange): Promise<Answer> {
  exchange.isCompressible = context.features.responseCompression;
  if (context.features.selfLinks) exchange.showsLinks = true;
  for (let tries = 1; ; tries += 1) {
    const endpoint = endpointOf(context, exchange);
    try {
      const answer = await answerOnce(context, exchange);
      // A read waits for the newest state, in which the definition of the resource may have changed since
      // the request began.
      const mayBeOutdated = READS.has(exchange.info.verb) && endpoint?.custom !== undefined;
      if (tries >= TRIES_MAX || !mayBeOutdated || endpointOf(context, exchange) === endpoint) return answer;
    } catch (error) {
      if (tries >= TRIES_MAX || !isByDefinition(error, endpoint)) throw error;
      await context.confirmRegistry(exchange.signal);
      if (error instanceof DefinitionChangedError || endpointOf(context, exchange) !== endpoint) continue;
      throw error;
    }
  }
}

/**
 * Whether a newer definition of the resource might lead to another result: no refusal is decided on an
 * outdated definition.
 */
function isByDefinition(error: unknown, endpoint: Endpoint | undefined): boolean {
  if (error instanceof DefinitionChangedError) return true;
  return endpoint?.custom !== undefined && error instanceof StatusError && REFUSALS.has(error.status.reason);
}

const READS: ReadonlySet<string> = new Set(['get', 'list']);

const REFUSALS: ReadonlySet<unknown> = new Set(['BadRequest', 'Invalid', 'MethodNotAllowed']);

/** Maximum number of attempts while the definition changes. */
const TRIES_MAX = 4;

async function answerOnce(context: VerbContext, exchange: Exchange): Promise<Answer> {
  let endpoint = endpointOf(context, exchange);
  if (isDoubtful(context, exchange, endpoint)) {
    await context.confirmRegistry(exchange.signal);
    endpoint = endpointOf(context, exchange);
  }
  if (endpoint === undefined && !isBuiltIn(context, exchange)) {
    const unknown = unknownBelow(context.registry(), exchange.path);
    if (unknown !== undefined) throw unknown;
    return pageNotFound();
  }
  if (endpoint?.custom !== undefined && !hasPlace(endpoint, exchange.info)) return pageNotFound();
  const connection = endpoint === undefined ? undefined : connectionAt(endpoint, exchange);
  if (endpoint !== undefined && connection !== undefined) {
    return connect(context, exchange, { endpoint, connection });
  }
  // A custom resource warns of its deprecation even if the subresource does not exist.
  if (endpoint?.custom !== undefined) warnOfDeprecation(exchange, endpoint, context.features);
  const target = findTarget(endpoint, exchange);
  const { verb: name } = exchange.info;
  const verb = operationVerb(target, name) ?? viewVerb(target, name) ?? VERBS.get(name);
  if (verb === undefined) throw methodNotAllowed();
  enter(context, exchange, target);
  if (exchange.upgrade && exchange.info.verb !== 'watch') {
    throw badRequest(
      'Upgrade request is not possible here: only a watch can be sent over an upgraded connection',
    );
  }
  return verb(context, exchange, target);
}

/**
 * Checks before the verb: the router refuses, then the deprecation warning is set, then a watch of a
 * resource without watch is refused.
 */
function enter(context: VerbContext, exchange: Exchange, target: Target): void {
  const { verb } = exchange.info;
  const { row, custom, deprecation } = target.endpoint;
  if (custom === undefined) refuseUnrouted(exchange, routeOf(context, target, verb));
  if (deprecation !== undefined) warnOfDeprecation(exchange, target.endpoint, context.features);
  if (custom === undefined && isListedOnly({ verb }, row.verbs)) throw methodNotSupported(row, verb);
  refuseDryRun(exchange, context.features);
}

/** Only patches are routed by the type of their body. */
function routeOf(
  { store }: VerbContext,
  target: Target,
  verb: string,
): { readonly consumes?: readonly string[] } {
  return verb === 'patch' ? { consumes: patchMediaTypes(target, store.serverSideApply) } : {};
}

function endpointOf(context: VerbContext, { info }: Exchange): Endpoint | undefined {
  return context.registry().endpoint(info.apiGroup, info.apiVersion, info.resource);
}

/**
 * Whether the resource may be unknown here only because this replica is behind: another one may have served
 * it before.
 */
function isDoubtful(context: VerbContext, exchange: Exchange, endpoint: Endpoint | undefined): boolean {
  if (endpoint === undefined) return !isBuiltIn(context, exchange);
  return exchange.info.verb === 'create' && endpoint.custom?.isTerminating === true;
}

/** Custom resources cannot be in built-in group versions. */
function isBuiltIn(context: VerbContext, { info }: Exchange): boolean {
  const [first] = context.registry().endpointsOf(info.apiGroup, info.apiVersion);
  return first !== undefined && first.custom === undefined;
}

/** Adds the warning for the client and the annotation of the audit event. */
function warnOfDeprecation(
  exchange: Exchange,
  { deprecation, row }: Endpoint,
  { warningHeaders }: RequestFeatures,
): void {
  if (deprecation === undefined) return;
  if (warningHeaders && !exchange.warnings.includes(deprecation)) exchange.warnings.push(deprecation);
  exchange.audit?.annotate(AUDIT_ANNOTATION.deprecated, 'true');
  if (row.removed !== undefined) exchange.audit?.annotate(AUDIT_ANNOTATION.removedRelease, row.removed);
}
