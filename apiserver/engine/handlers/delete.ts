import { documentAnswer } from '../encoding/document';
import { OUTCOME_OFFER } from '../encoding/negotiation';
import type { Status } from '../../../shared/errors/status-error';
import { forbidden } from '../../../shared/errors/status-error';
import type { Answer, Exchange } from '../request/exchange';
import { deleteObject } from '../registry/delete';
import type { Written } from '../registry/write';
import { objectAnswers } from './answers';
import type { VerbContext } from './context';
import { readDeleteOptions } from './delete-options';
import type { Target } from './target';
import { writeRequestOf } from './target';

/**
 * DELETE of one object. 200 with a Status when it is removed (or with the object, for kinds that return it),
 * 200 with the terminating object (or with a Status, for Services) when something holds it, 202 in that case
 * if the deprecated orphanDependents is false.
 */
export async function remove(context: VerbContext, exchange: Exchange, target: Target): Promise<Answer> {
  const answers = objectAnswers(exchange, target);
  const options = await readDeleteOptions(exchange, target);
  const request = writeRequestOf(exchange, target, options.dryRun);
  const { row, stored } = target.endpoint;
  const why = stored.strategy.refusesDeletion?.(target.name);
  if (why !== undefined) throw forbidden(row, target.name, why);
  const written = await deleteObject(context.store, request, options, exchange.signal);
  const gone = written.kind === 'deleted';
  const { returnsDeletedObject = false, returnsNoHeldObject = false } = stored.strategy.compat ?? {};
  if (gone ? !returnsDeletedObject : returnsNoHeldObject) {
    return documentAnswer(exchange, 200, successStatus(target, written), OUTCOME_OFFER);
  }
  const code = !gone && options.orphanDependents === false ? 202 : 200;
  return answers.written(code, written);
}

function successStatus({ endpoint, name }: Target, written: Written): Omit<Status, 'code'> {
  const { group, resource } = endpoint.row;
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: {
      name,
      ...(group === '' ? {} : { group }),
      kind: resource,
      uid: written.object.metadata.uid ?? '',
    },
  };
}
