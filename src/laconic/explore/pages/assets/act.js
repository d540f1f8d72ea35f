// Changing a model from its pages: every request says which version of it the page has shown.
"use strict";
(() => {
  const meta = (name) => document.querySelector(`meta[name=${name}]`).content;
  const told = document.getElementById("told");

  const say = (message) => {
    const note = document.createElement("p");
    note.className = "notice bad";
    note.textContent = message;
    told.replaceChildren(note);
    told.scrollIntoView({ block: "nearest" });
  };

  const post = async (address, content) => {
    const answer = await fetch(address, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-CSRF-Token": meta("csrf") },
      body: JSON.stringify(content),
    });
    const found = await answer.json();
    if (!answer.ok) throw new Error(found.detail || `the server says ${answer.status}`);
    return found;
  };

  const tried = async (buttons, work) => {
    buttons.forEach((button) => { button.disabled = true; });
    try {
      await work();
    } catch (error) {
      say(error.message);
      buttons.forEach((button) => { button.disabled = false; });
    }
  };

  const listed = (text) => (text || "").split(/[,;]+/).map((word) => word.trim()).filter(Boolean);

  for (const form of document.querySelectorAll("form[data-kind]")) {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const fields = new FormData(form), kind = form.dataset.kind;
      const topics = form.dataset.topics === undefined ? [] : [Number(form.dataset.topics)];
      if (fields.has("other")) topics.push(Number(fields.get("other")));
      const asked = { kind, topics, words: listed(fields.get("words")), name: fields.get("name") || "", version: meta("version") };
      tried([...form.querySelectorAll("button")], async () => {
        await post("/api/edits", asked);
        if (["rename", "freeze", "thaw"].includes(kind)) location.reload();
        else location.assign("/edits");
      });
    });
  }

  for (const button of document.querySelectorAll("button[data-post]")) {
    button.addEventListener("click", () => tried([button], async () => {
      await post(button.dataset.post, { version: meta("version") });
      location.reload();
    }));
  }

  const running = document.querySelector("[data-running]");
  const look = async () => {
    const answer = await fetch("/api/refit");
    const job = await answer.json();
    if (job.state !== "running") { location.reload(); return; }
    const bar = running.querySelector("progress");
    if (job.most) { bar.max = job.most; bar.value = job.iteration; }
    document.getElementById("refit-told").textContent = `iteration ${job.iteration}, ${Math.round(job.seconds)} s`;
    setTimeout(look, 500);
  };
  if (running) setTimeout(look, 300);
})();
