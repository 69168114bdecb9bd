import { killLoop } from './kill.ts'

describe('kill -9 in a loop of writes', () => {
  it('loses nothing, tears nothing, and leaves watches whole', async () => {
    await killLoop(4)
  })
})
