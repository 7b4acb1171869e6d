// Which step is shown: a clock that goes on by one step at a time as far as there are steps, and a person who can stop
// it. While a run is made it plays what is there so far.
import { byId } from "./dom.js";

const stepMilliseconds = 950;

export class Player {
  onStep: (step: number) => void = () => undefined;
  private readonly playButton = byId("play", HTMLButtonElement);
  private readonly slider = byId("slider", HTMLInputElement);
  private readonly where = byId("where", HTMLOutputElement);
  private step = 0;
  private count = 0;
  private live = false;
  private timer = 0;

  constructor() {
    this.playButton.addEventListener("click", () => {
      if (this.timer !== 0) this.pause();
      else this.play(this.step >= this.count ? 0 : this.step);
    });
    const jump = (id: string, to: () => number) => {
      byId(id, HTMLButtonElement).addEventListener("click", () => {
        this.goTo(to());
      });
    };
    jump("first", () => 0);
    jump("back", () => this.step - 1);
    jump("next", () => this.step + 1);
    this.slider.addEventListener("input", () => {
      this.goTo(Number(this.slider.value));
    });
    this.draw();
  }

  // A person's choice; the clock stops.
  goTo(step: number): void {
    this.pause();
    this.set(step);
  }

  // From this step on. `live`: more steps may come.
  play(step: number, live = false): void {
    this.pause();
    this.live = live;
    if (window.matchMedia("(prefers-reduced-motion: reduce)").matches) {
      this.set(this.count);
      if (live) this.timer = window.setInterval(() => { this.set(this.count); }, 200);
      return;
    }
    this.set(step);
    this.timer = window.setInterval(() => {
      if (this.step < this.count) this.set(this.step + 1);
      if (this.step >= this.count && !this.live) this.pause();
    }, stepMilliseconds);
    this.draw();
  }

  // No further steps will come.
  settle(): void {
    this.live = false;
    if (window.matchMedia("(prefers-reduced-motion: reduce)").matches) this.goTo(this.count);
  }

  // The same step once more, where there is another place to show it.
  refresh(): void {
    this.onStep(this.step);
  }

  extend(count: number): void {
    this.count = count;
    this.step = Math.min(this.step, count);
    this.draw();
  }

  pause(): void {
    window.clearInterval(this.timer);
    this.timer = 0;
    this.draw();
  }

  private set(step: number): void {
    this.step = Math.max(0, Math.min(step, this.count));
    this.draw();
    this.onStep(this.step);
  }

  private draw(): void {
    this.slider.max = String(this.count);
    this.slider.value = String(this.step);
    this.slider.disabled = this.count === 0;
    const said = this.step === 0 ? "start" : `step ${this.step} of ${this.count}`;
    this.where.textContent = said;
    this.slider.setAttribute("aria-valuetext", said);
    const playing = this.timer !== 0;
    byId("icon-play", SVGElement).toggleAttribute("hidden", playing);
    byId("icon-pause", SVGElement).toggleAttribute("hidden", !playing);
    this.playButton.setAttribute("aria-label", playing ? "Pause" : "Play");
    this.playButton.disabled = this.count === 0;
  }
}
