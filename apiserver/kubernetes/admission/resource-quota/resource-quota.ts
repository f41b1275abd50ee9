import type { Clock } from '../../../../shared/concurrency/clock';
import type { RandomInt } from '../../../../shared/meta/generate-name';
import type { Amounts } from '../../../../shared/quota/amounts';
import { getEvaluator } from '../../../../shared/quota/evaluators';
import type { Evaluator } from '../../../../shared/quota/measure';
import type { AdmissionAttributes, AdmissionOperation } from '../../../engine/registry/admission';
import type { Note } from '../../../engine/registry/write-notes';
import type { AdmissionPlugin } from '../plugin';
import { refusal } from '../refusal';
import { RESOURCE_QUOTAS } from '../../cluster/resources';
import type { Refusal } from './charge-batch';
import { Charging } from './charging';
import { limitedResourcesIn } from './configuration';
import { chargeOf } from './quota-evaluation';
import type { QuotaRecords } from './quota-records';

export interface ResourceQuotaParts {
  readonly records: QuotaRecords;
  readonly configuration: unknown;
  readonly clock: Clock;
  readonly randomInt: RandomInt;
}

/**
 * Charges the quotas of a namespace before an object is stored, so that all replicas together never exceed them. The controller releases
 * unused charges.
 */
export function resourceQuota({
  records,
  configuration,
  clock,
  randomInt,
}: ResourceQuotaParts): AdmissionPlugin {
  const limited = limitedResourcesIn(configuration);
  const charging = new Charging({ records, limited, randomInt });
  return {
    concerns: ({ operation, subresource, namespaced, ...name }) =>
      namespaced && subresource === '' && isCharged(getEvaluator(name), operation),
    validate(attributes, cluster, signal) {
      const { object, oldObject } = attributes;
      const { endpoint, namespace, dryRun } = attributes.write;
      const evaluator = getEvaluator(endpoint.row);
      if (object === undefined || evaluator === undefined) return undefined;
      // Uses the reader, so that a refusal is decided again on fresh quotas.
      const isFree = cluster.list(RESOURCE_QUOTAS, namespace).length === 0;
      if (isFree && limited.length === 0) return undefined;
      const charge = chargeOf(evaluator, { object, oldObject, nowMs: clock.now() });
      const charged = charging.charge(namespace, { charge, paid: attributes.notes.of(PAID), dryRun }, signal);
      return refuse(attributes, charged);
    },
  };
}

/** Charges of earlier attempts of a write, by the quota's uid. */
const PAID: Note<Map<string, Amounts>> = { begin: () => new Map() };

async function refuse(attributes: AdmissionAttributes, charged: Promise<Refusal>): Promise<void> {
  const refused = await charged;
  if (refused !== undefined) throw refusal(attributes, refused);
}

function isCharged(evaluator: Evaluator | undefined, operation: AdmissionOperation): boolean {
  if (evaluator === undefined) return false;
  return operation === 'CREATE' || (operation === 'UPDATE' && evaluator.chargesUpdates);
}
