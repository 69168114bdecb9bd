import { type Seat, type SeatRequest, Seats } from '../fairness/seats.ts'
import { tooManyRequests } from '../meta/errors.ts'

/** Milliseconds for which a request waits for a seat. */
const longestWait = 10_000

/** Seats for requests to other servers about tokens, and as many places in the queue. */
export const newReviewSeats = (seats: number): Seats =>
  new Seats({ seats, longestWait, left: () => undefined })

/** Several requests wait for one review: it goes on when one of them ends. */
const lifetime = { ended: undefined, onEnd: () => undefined }

/** Throws 429 with this message when no seat was free in time. */
export async function enterReview(
  seats: Seats,
  who: Pick<SeatRequest, 'user' | 'workspace'>,
  message: string,
): Promise<Seat> {
  const seat = await seats.enter({ ...who, isSystem: false, lifetime })
  if ('reason' in seat) throw tooManyRequests(message, seat.retryAfter)
  return seat
}
