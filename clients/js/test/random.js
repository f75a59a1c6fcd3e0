/** Numbers that look random and are the same each time. */
export class Random {
  #state = 20260101n;

  /** @returns {bigint} 64 bits, often with long rows of equal ones */
  bits64() {
    const next = () => {
      this.#state = BigInt.asUintN(64, this.#state * 6364136223846793005n + 1442695040888963407n);
      return this.#state >> 32n;
    };
    const value = (next() << 32n) | next();
    switch (Number(next() % 4n)) {
      case 0:
        return value >> (next() % 64n);
      case 1:
        return BigInt.asUintN(64, ~(value >> (next() % 64n)));
      default:
        return value;
    }
  }

  /** @param {number} limit @returns {number} */
  below(limit) {
    return Number(((this.bits64() ^ (this.bits64() << 7n)) & 0xffffffffffffn) % BigInt(limit));
  }
}
