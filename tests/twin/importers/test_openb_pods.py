from tests.twin.importers.reading import read_texts
from twin.traces.importers import openb_pods

HEADER = (
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"
)


def test_gpu_models_that_a_pod_may_use_are_noted():
    rows = [("p0", ""), ("p1", "V100M16|V100M32"), ("p2", "V100M16|V100M32"), ("p3", "T4"), ("p4", "G2")]
    text = "".join(f"{name},1000,1024,1,1000,{spec},LS,Running,0,{100 * (name != 'p4')},8\n" for name, spec in rows)
    assert read_texts(openb_pods, HEADER + text).notes[1:] == [
        "Only some GPU models are allowed by 3 of 4 pods (gpu_spec: V100M16|V100M32: 2, T4: 1); this is not kept, "
        "because servers have no GPU models: such a pod may run on any server."
    ]
    assert len(read_texts(openb_pods, HEADER + text[: text.index("p1")]).notes) == 1


def test_a_list_without_gpu_models_is_read():
    text = HEADER.replace("gpu_spec,", "") + "p0,1000,1024,1,1000,LS,Running,0,100,8\n"
    assert read_texts(openb_pods, text).drafts.run_ms.tolist() == [92_000]
