import { NEWEST_LEVEL } from '../../testing/kinds/newest-level';
import { newerKindCases } from '../../testing/kinds/cases/newer-kinds';
import { resourceCases } from '../../testing/kinds/cases/resource';
import { describeKindCases } from '../../testing/kinds/describe-kind-cases';

describe(`at API level ${NEWEST_LEVEL}`, () => {
  describeKindCases([...newerKindCases, ...resourceCases]);
});
