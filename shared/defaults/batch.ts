import type { Json } from '../conversion/json';
import { has, objectAt } from '../conversion/json';
import type { DefaultsTable, MessageDefaults } from './contract';

const cronJobSpec: MessageDefaults = {
  values: {
    concurrencyPolicy: 'Allow',
    suspend: false,
    successfulJobsHistoryLimit: 3,
    failedJobsHistoryLimit: 1,
  },
};

export const BATCH: DefaultsTable = {
  'batch/v1.Job': { derive: ofJob },
  'batch/v1.CronJobSpec': cronJobSpec,
  'batch/v1beta1.CronJobSpec': cronJobSpec,
};

/** A job that says nothing runs once; one that says how often may still run one at a time. A template for jobs is left alone. */
function ofJob(job: Json): Json {
  const spec = objectAt(job, 'spec') ?? {};
  const isSingle = !has(spec, 'completions') && !has(spec, 'parallelism');
  const template = objectAt(spec, 'template') ?? {};
  const labels = objectAt(objectAt(template, 'metadata') ?? {}, 'labels');
  const metadata = objectAt(job, 'metadata') ?? {};
  const needsLabels = labels !== undefined && Object.keys(objectAt(metadata, 'labels') ?? {}).length === 0;
  return {
    spec: {
      ...spec,
      ...(isSingle ? { completions: 1 } : {}),
      parallelism: spec['parallelism'] ?? 1,
      backoffLimit: spec['backoffLimit'] ?? 6,
    },
    ...(needsLabels ? { metadata: { ...metadata, labels } } : {}),
  };
}
