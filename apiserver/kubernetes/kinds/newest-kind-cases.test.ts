import '../../testing/kinds/newest-level';
import { newerKindCases } from '../../testing/kinds/cases/newer-kinds';
import { describeKindCases } from '../../testing/kinds/describe-kind-cases';

describeKindCases([...newerKindCases]);
