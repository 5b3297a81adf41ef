/* The upload of event logs: in parts, so that any size goes through with little memory. */
(function () {
  "use strict";
  const weir = (window.weir = window.weir || {});
  const PART_BYTES = 3 << 20;

  function say(text, share, state) {
    const box = document.getElementById("upload-state");
    if (!box) return;
    box.hidden = false;
    box.dataset.state = state || "";
    weir.setText(document.getElementById("upload-text"), text);
    document.getElementById("upload-bar").style.width = (share * 100).toFixed(1) + "%";
  }

  async function post(path, body) {
    const answer = await fetch(path, { method: "POST", headers: weir.csrf(), body });
    const said = await answer.json().catch(() => ({}));
    if (!answer.ok) throw new Error(said.error || `The server answered ${answer.status}.`);
    return said;
  }

  const megabytes = (bytes) => (bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0) + " MB";

  let uploading = false;
  async function upload(file) {
    if (uploading) return say("One file at a time: the one before is still on its way.", 0, "bad");
    uploading = true;
    try {
      const { job } = await post(`/api/import/begin?name=${encodeURIComponent(file.name)}&size=${file.size}`);
      for (let at = 0; at < file.size; at += PART_BYTES) {
        say(`Uploading ${file.name}: ${megabytes(at)} of ${megabytes(file.size)}`, (at / file.size) * 0.5);
        await post(`/api/import/part?job=${job}&at=${at}`, file.slice(at, at + PART_BYTES));
      }
      await post(`/api/import/done?job=${job}`);
      await follow(job, file);
    } catch (error) {
      say(error.message, 1, "bad");
    }
    uploading = false;
  }

  async function follow(job, file) {
    for (;;) {
      const answer = await fetch(`/api/import/status?job=${job}`);
      const status = await answer.json();
      if (!answer.ok) throw new Error(status.error);
      if (status.state === "failed") throw new Error(status.message);
      if (status.state === "done") {
        say(status.message, 1, "ok");
        weir.send("runs-imported", { data: Date.now() });
        return;
      }
      const share = status.size_bytes ? Math.min(status.done_bytes / status.size_bytes, 1) : 0;
      say(`Reading ${file.name}: ${Math.round(share * 100)} %`, 0.5 + share * 0.5);
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }

  const picker = document.createElement("input");
  picker.type = "file";
  picker.onchange = () => {
    if (picker.files[0]) upload(picker.files[0]);
    picker.value = "";
  };
  document.addEventListener("click", (event) => {
    if (event.target.closest && event.target.closest("#upload-choose")) picker.click();
  });
  const over = (event) => event.target.closest && event.target.closest("#upload");
  document.addEventListener("dragover", (event) => {
    const box = over(event);
    if (box) event.preventDefault();
    for (const known of document.querySelectorAll("#upload")) known.classList.toggle("is-over", known === box);
  });
  document.addEventListener("drop", (event) => {
    const box = over(event);
    if (!box) return;
    event.preventDefault();
    box.classList.remove("is-over");
    if (event.dataTransfer.files[0]) upload(event.dataTransfer.files[0]);
  });
})();
