import { discard } from '../support/oriel.ts'
import { type People, startWithPeople } from '../support/people.ts'
import { administratorsAndOthers } from './authorizer/administrators.suite.ts'
import { oneByOne } from './authorizer/onebyone.suite.ts'
import { rulesReviews } from './authorizer/rulesreviews.suite.ts'
import { createOrganizations } from './authorizer/scene.ts'
import { serviceAccounts } from './authorizer/serviceaccounts.suite.ts'

/** The assertions of kcp's `test/e2e/authorizer`. */
describe('7.1 authorizer', function () {
  this.timeout(240_000)
  const people = {} as People
  before(async () => {
    Object.assign(people, await startWithPeople())
    await createOrganizations(people)
  })
  after(() => discard(people.oriel))

  administratorsAndOthers(people)
  rulesReviews(people)
  oneByOne(people)
  serviceAccounts(people)
})
