import type { ApiObject } from '../../../shared/object/object';
import type { Json } from '../../../shared/object/accessors';
import { record, stringMap } from '../../../shared/object/accessors';
import { JOB_LABEL } from './jobs-rules';

/**
 * A Job whose pods are told from all others: unless `manualSelector` says that the client does it, its template gets labels with
 * the Job's uid and name, and its selector wants that uid. Wrong values that are already there are left for validation to refuse.
 * A Job without labels gets those of its template.
 */
export function withGeneratedSelector(job: ApiObject): ApiObject {
  const spec = record(job['spec']);
  if (spec['manualSelector'] === true) return job;
  const { uid = '', name = '' } = job.metadata;
  const template = record(spec['template']);
  const metadata = record(template['metadata']);
  const selector = record(spec['selector']);
  const own = { [JOB_LABEL.controllerUid]: uid };
  const labels = { ...own, [JOB_LABEL.jobName]: name, ...stringMap(metadata['labels']) };
  const generated: Json = {
    ...spec,
    selector: { ...selector, matchLabels: { ...own, ...stringMap(selector['matchLabels']) } },
    template: { ...template, metadata: { ...metadata, labels } },
  };
  const isBare = Object.keys(job.metadata.labels ?? {}).length === 0;
  return { ...job, ...(isBare ? { metadata: { ...job.metadata, labels } } : {}), spec: generated };
}
