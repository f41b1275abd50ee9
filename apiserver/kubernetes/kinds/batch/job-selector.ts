import type { Job, JobSpec } from '../../../../shared/api/types/batch-v1';
import { JOB_LABEL } from './jobs-rules';

/**
 * A Job whose pods are told from all others: unless `manualSelector` says that the client does it, its template gets labels with
 * the Job's uid and name, and its selector wants that uid. Wrong values that are already there are left for validation to refuse.
 * A Job that got its labels from its template by default has these, too.
 */
export function withGeneratedSelector(job: Job): Job {
  const { spec } = job;
  if (spec.manualSelector === true) return job;
  const { uid = '', name = '' } = job.metadata;
  const { template, selector } = spec;
  const { metadata } = template;
  const own = { [JOB_LABEL.controllerUid]: uid };
  const labels = { ...own, [JOB_LABEL.jobName]: name, ...metadata.labels };
  const generated: JobSpec = {
    ...spec,
    selector: { ...selector, matchLabels: { ...own, ...selector?.matchLabels } },
    template: { ...template, metadata: { ...metadata, labels } },
  };
  const { labels: given = {} } = job.metadata;
  const isBare = Object.keys(given).length === 0 || given === metadata.labels;
  return { ...job, ...(isBare ? { metadata: { ...job.metadata, labels } } : {}), spec: generated };
}
