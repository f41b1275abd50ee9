import { RESOURCE } from '../../shared/api/resource-names';
import type { CronJob, CronJobStatus, Job } from '../../shared/api/types/batch-v1';
import type { ObjectReference } from '../../shared/api/types/core-v1';
import type { Client } from '../../shared/client/client';
import { hasCode } from '../../shared/client/status';
import type { Sent } from '../../shared/object/object';

/** The requests of the controller. */
export class JobControl {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  async create(job: Sent<Job>, signal: AbortSignal): Promise<Job> {
    return this.#client.create(RESOURCE.jobs, job, { signal });
  }

  /** Returns the Job that the server has; undefined if there is none. */
  async get({ namespace, name = '' }: ObjectReference, signal: AbortSignal): Promise<Job | undefined> {
    try {
      return await this.#client.get(RESOURCE.jobs, { namespace, name }, { signal });
    } catch (error) {
      if (hasCode(error, 404)) return undefined;
      throw error;
    }
  }

  async getCronJob({ metadata }: CronJob, signal: AbortSignal): Promise<CronJob> {
    const { namespace, name = '' } = metadata;
    return this.#client.get(RESOURCE.cronjobs, { namespace, name }, { signal });
  }

  /** Deletes exactly this Job, with its pods. */
  async delete({ metadata }: Job, signal: AbortSignal): Promise<void> {
    const { namespace, name = '', uid = '' } = metadata;
    const preconditions = { uid };
    await this.#client.delete(
      RESOURCE.jobs,
      { namespace, name },
      { propagationPolicy: 'Background', preconditions },
      { signal },
    );
  }

  async writeStatus(cronJob: CronJob, status: CronJobStatus, signal: AbortSignal): Promise<void> {
    await this.#client.updateStatus(RESOURCE.cronjobs, { ...cronJob, status }, { signal });
  }
}
