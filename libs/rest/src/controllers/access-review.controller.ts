import { Controller, Get, Inject, Query, type PipeTransform } from '@nestjs/common';
import type { AccessDecision, CallerRights } from '@causeway/access';
import { verbs } from '@causeway/kinds';
import { AccessReviews, type AccessQuestion } from '@causeway/queries';
import { Access } from '../http/access.guard';
import { FromRequest } from '../requests/decorators';
import { QueryReader, type RawQuery } from '../http/query-reader';
import { ACCESS_PARAMETERS } from '../requests/query-parameters';
import { RightsPipe } from '../requests/resource.pipes';

/** Decodes the question who may do what: `@Query(AccessQuestionPipe)`. */
class AccessQuestionPipe implements PipeTransform<RawQuery, AccessQuestion> {
  transform(raw: RawQuery): AccessQuestion {
    const query = new QueryReader(raw, ACCESS_PARAMETERS);
    const given = query.text('verb');
    const verb = verbs.find((one) => one === given);
    if (!verb) query.refuse('verb', `must be one of ${verbs.join(', ')}`);
    const kind = query.text('kind') ?? '';
    if (kind === '') query.refuse('kind', 'must be given: a kind or an activity');
    const groups = (query.text('group') ?? '').split(',').filter((group) => group !== '');
    const [user, mesh, namespace] = ['user', 'mesh', 'namespace'].map((name) => query.text(name) || undefined);
    query.check();
    return { user, groups, verb: verb ?? 'get', kind, mesh, namespace };
  }
}

/** Serves reviews of access: who may do what, and by which binding (docs/guides/access.md). */
@Controller()
export class AccessReviewController {
  constructor(@Inject(AccessReviews) private readonly reviews: AccessReviews) {}

  /** For the caller itself unless user or groups are given; which needs no right; for others the caller needs `get` on AccessReview. */
  @Get('/_access')
  @Access('public')
  review(
    @Query(AccessQuestionPipe) question: AccessQuestion,
    @FromRequest(RightsPipe) { caller }: CallerRights,
  ): AccessDecision {
    return this.reviews.review(caller, question);
  }
}
