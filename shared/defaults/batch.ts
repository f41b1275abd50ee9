import type { Part } from '../object/object';
import type { CronJobSpec, Job } from '../api/types/batch-v1';
import type { DefaultsTable, MessageDefaults } from './contract';

const cronJobSpec: MessageDefaults<CronJobSpec> = {
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

/**
 * A Job with neither completions nor parallelism runs once, and parallelism defaults to 1. Job templates get
 * no defaults.
 */
function ofJob({ metadata, spec }: Job): Part<Job> {
  const { completions, parallelism, backoffLimit, template } = spec;
  const isSingle = completions === undefined && parallelism === undefined;
  const { labels } = template.metadata;
  const needsLabels = labels !== undefined && Object.keys(metadata.labels ?? {}).length === 0;
  return {
    spec: {
      ...spec,
      ...(isSingle ? { completions: 1 } : {}),
      parallelism: parallelism ?? 1,
      backoffLimit: backoffLimit ?? 6,
    },
    ...(needsLabels ? { metadata: { ...metadata, labels } } : {}),
  };
}
