import { AUDIT_ANNOTATION } from '../../shared/names';
import { badRequest } from '../../shared/errors/status-error';
import type { Answer, Exchange } from '../exchange/exchange';
import type { Endpoint } from '../registry/resource';
import { pageNotFound } from './answers';
import type { VerbContext } from './context';
import { create } from './create';
import { remove } from './delete';
import { removeCollection } from './delete-collection';
import { get } from './get';
import { list } from './list';
import { operationVerb } from './operation';
import { patch } from './patch';
import type { Target } from './target';
import { findTarget, methodNotAllowed } from './target';
import { update } from './update';
import { viewVerb } from './view';
import { watch } from './watch';

type Verb = (context: VerbContext, exchange: Exchange, target: Target) => Promise<Answer>;

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

/** Answers a request for a resource. A group version that is not served is an unknown page, an unknown resource in one a Status. */
export async function answerResource(context: VerbContext, exchange: Exchange): Promise<Answer> {
  const { apiGroup, apiVersion } = exchange.info;
  if (context.registry().endpointsOf(apiGroup, apiVersion).length === 0) return pageNotFound();
  const target = findTarget(context, exchange);
  if (target.endpoint.deprecation !== undefined) tellDeprecation(exchange, target.endpoint);
  const { verb: name } = exchange.info;
  const verb = operationVerb(target, name) ?? viewVerb(target, name) ?? VERBS.get(name);
  if (verb === undefined) throw methodNotAllowed();
  if (exchange.upgrade && exchange.info.verb !== 'watch') {
    throw badRequest(
      'Upgrade request is not possible here: only a watch can be sent over an upgraded connection',
    );
  }
  return verb(context, exchange, target);
}

/** To the client as a warning, to the operator in the audit event. */
function tellDeprecation(exchange: Exchange, { deprecation = '', row }: Endpoint): void {
  exchange.warnings.push(deprecation);
  exchange.audit?.annotate(AUDIT_ANNOTATION.deprecated, 'true');
  if (row.removed !== undefined) exchange.audit?.annotate(AUDIT_ANNOTATION.removedRelease, row.removed);
}
